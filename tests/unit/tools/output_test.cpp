// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/descriptor.hpp>

#include <tools/output.hpp>

#include <doctest/doctest.h>

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>

using namespace shoal::tools;
using shoal::comm::Descriptor;

namespace {

/// A pipe that plays the launcher's stdout.
struct Target {
  Target() {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
    read_end.reset(ends[0]);
    write_end.reset(ends[1]);
    ::fcntl(read_end.get(), F_SETFL, O_NONBLOCK);
  }
  std::string take() {
    std::string text;
    std::array<char, 65536> room;
    for (ssize_t size; (size = ::read(read_end.get(), room.data(), room.size())) > 0;) {
      text.append(room.data(), static_cast<std::size_t>(size));
    }
    return text;
  }
  Descriptor read_end;
  Descriptor write_end;
};

}  // namespace

TEST_CASE("an unfinished line waits for its end, and others go before it") {
  Target target;
  Sink sink(target.write_end.get());
  LineForwarder first(sink, {.prefix = ""});
  LineForwarder second(sink, {.prefix = ""});
  first.add("one\ntw");
  second.add("three\n");
  first.add("o\n");
  sink.flush();
  CHECK(target.take() == "one\nthree\ntwo\n");
}

TEST_CASE("each line has the prefix once, also when it comes in pieces") {
  Target target;
  Sink sink(target.write_end.get());
  LineForwarder lines(sink, {.prefix = "[7] "});
  const std::string half(LineForwarder::kLongestLine, 'x');
  lines.add(half);
  lines.add("end\n\nlast");
  lines.finish();
  sink.flush();
  std::string text = target.take();
  while (sink.pending()) {
    sink.flush();
    text += target.take();
  }
  CHECK(text == "[7] " + half + "end\n[7] \n[7] last");
}

TEST_CASE("a stream that goes on in another's unfinished line starts a new one") {
  Target target;
  Sink sink(target.write_end.get());
  LineForwarder first(sink, {.prefix = ""});
  LineForwarder second(sink, {.prefix = ""});
  first.add("no newline");
  first.finish();
  second.add("next\n");
  sink.flush();
  CHECK(target.take() == "no newline\nnext\n");
}

TEST_CASE("a reader that does not read fills the sink without blocking it") {
  Target target;
  Sink sink(target.write_end.get());
  LineForwarder lines(sink, {.prefix = ""});
  const std::string line = std::string(99, 'y') + "\n";
  std::size_t given = 0;
  while (!sink.full()) {
    lines.add(line);
    given += line.size();
    sink.flush();
  }
  std::size_t taken = 0;
  do {
    taken += target.take().size();
    sink.flush();
  } while (sink.pending());
  taken += target.take().size();
  CHECK(taken == given);
}

TEST_CASE("a reader that went away breaks the sink, which then drops what comes") {
  Target target;
  Sink sink(target.write_end.get());
  target.read_end.reset();
  std::signal(SIGPIPE, SIG_IGN);
  sink.add(nullptr, "text\n");
  sink.flush();
  CHECK(sink.error() == EPIPE);
  sink.add(nullptr, "more\n");
  CHECK_FALSE(sink.pending());
}

TEST_CASE("a full disk breaks the sink with its own error") {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  REQUIRE(full);
  Sink sink(full.get());
  CHECK(sink.error() == 0);
  sink.add(nullptr, "text\n");
  sink.flush();
  CHECK(sink.error() == ENOSPC);
  CHECK_FALSE(sink.pending());
}

TEST_CASE("the last words are the last line that says something") {
  Target target;
  Sink sink(target.write_end.get());
  LineForwarder lines(sink, {.prefix = ""});
  CHECK(lines.last_words().empty());
  lines.add("first\nterminate called\n\n  \n");
  CHECK(lines.last_words() == "terminate called");
  lines.add(
      "[vm:13034:0:13034] Caught signal 11 (Segmentation fault: address not mapped)\n"
      "==== backtrace (tid:  13034) ====\n"
      " 0  /lib/x86_64-linux-gnu/libucs.so.0(ucs_debug_print_backtrace+0x35) [0x7f6866136dd5]\n"
      "#10 0x561150179be9 in act main.cpp:75\n"
      "=================================\n");
  CHECK(lines.last_words() == "terminate called");
  lines.add(std::string(1000, 'z'));
  lines.finish();
  CHECK(lines.last_words() == std::string(LineForwarder::kLastWords, 'z'));
}
