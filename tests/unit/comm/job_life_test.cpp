// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/inquiry.hpp>
#include <shoal/comm/bootstrap/job_table.hpp>
#include <shoal/comm/bootstrap/socket.hpp>

#include <doctest/doctest.h>

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <string>
#include <vector>

using namespace shoal::comm;

namespace {

constexpr Nanoseconds kBeat = 1000 * kMillisecond;

/// A complete job whose clock is turned by hand.
struct Job {
  explicit Job(std::uint32_t processes, std::uint32_t heartbeat_ms = 1000)
      : table({.processes = processes, .pes = {}}, 1,
              [this](ProcessId to, std::span<const std::byte> frame) {
                if (static_cast<FrameType>(frame[4]) == FrameType::ask_report) {
                  asked.push_back(number(to));
                }
              }) {
    Identity identity;
    identity.node = "n1";
    identity.pid = 7;
    identity.heartbeat_ms = heartbeat_ms;
    identity.complete();
    for (std::uint32_t k = 0; k < processes; ++k) REQUIRE(table.arrive(ProcessId{k}));
    for (std::uint32_t k = 0; k < processes; ++k) feed(k, encode_hello(identity));
  }
  void feed(std::uint32_t process, const std::vector<std::byte>& frame) {
    FrameReader reader;
    reader.append(frame);
    table.receive(ProcessId{process}, *reader.next().value(), now);
  }
  void beat(std::uint32_t process) {
    feed(process, FrameWriter(FrameType::heartbeat).u64(9).finish());
  }
  void report(std::uint32_t process, const std::string& text) {
    feed(process, FrameWriter(FrameType::report).text(text, kMaxReason).finish());
  }
  /// Ticks whenever it is due, as its owner does.
  void pass(Nanoseconds time) {
    const Nanoseconds end = now + time;
    while (table.deadline() && *table.deadline() <= end) {
      now = std::max(now, *table.deadline());
      table.tick(now);
    }
    now = end;
  }
  std::vector<std::uint32_t> asked;
  Nanoseconds now = 5;
  JobTable table;
};

}  // namespace

TEST_CASE("a process that is silent is told of within two heartbeats, once, and when it is back") {
  Job job(3);
  for (int i = 0; i < 20; ++i) {
    job.pass(kBeat / 2);
    for (std::uint32_t k = 0; k < 3; ++k) job.beat(k);
  }
  CHECK(job.table.take_news().empty());
  std::vector<std::string> news;
  for (int i = 0; i < 10; ++i) {
    job.pass(kBeat / 2);
    job.beat(0);
    job.beat(2);
    if (i < 3) CHECK(job.table.take_news().empty());
    const auto more = job.table.take_news();
    news.insert(news.end(), more.begin(), more.end());
    if (i == 3) REQUIRE(news.size() == 1);
  }
  REQUIRE(news.size() == 1);
  CHECK(news[0].starts_with("process 1 (pid 7 on n1) is stuck: it has not been heard of for"));
  job.beat(1);
  news = job.table.take_news();
  REQUIRE(news.size() == 1);
  CHECK(news[0] == "process 1 (pid 7 on n1) is heard of again, after 5.0 s");
}

TEST_CASE("processes that promised no sign of life are never called silent") {
  Job job(2, 0);
  job.pass(1000 * kBeat);
  CHECK(job.table.take_news().empty());
}

TEST_CASE("a report waits for all that can answer, and not longer than it may") {
  Job job(4);
  job.table.leave(ProcessId{3});
  job.table.ask_report(job.now);
  CHECK(job.asked == std::vector<std::uint32_t>{0, 1, 2});
  job.table.ask_report(job.now);
  CHECK(job.asked.size() == 3);
  job.report(0, "  PE 0: idle\n");
  job.report(1, "  PE 1: busy\n");
  job.report(1, "  PE 1: again\n");
  CHECK(!job.table.take_report());
  SUBCASE("all answer") { job.report(2, "  PE 2: idle\n"); }
  SUBCASE("one does not") { job.pass(JobTable::kReportLimit); }
  SUBCASE("one leaves") { job.table.leave(ProcessId{2}); }
  const auto text = job.table.take_report();
  REQUIRE(text);
  CHECK(text->find("process 0 (pid 7 on n1):\n  PE 0: idle\n") != std::string::npos);
  CHECK(text->find("PE 1: busy\n") != std::string::npos);
  CHECK(text->find("again") == std::string::npos);
  CHECK(text->find("process 2 (pid 7 on n1)") != std::string::npos);
  CHECK(text->find("process 3 (pid 7 on n1) has left\n") != std::string::npos);
  CHECK(!job.table.take_report());
  job.report(2, "too late");  // does no harm
  CHECK(!job.table.verdict());
}

TEST_CASE("who asks a process gets its answer, and other users' are not asked") {
  Inquiry inquiry;
  CHECK(!inquiry.accept());
  const auto all = inquirable_processes();
  const auto self = std::find_if(all.begin(), all.end(),
                                 [](const Inquirable& one) { return one.process == ::getpid(); });
  REQUIRE(self != all.end());
  CHECK(self->user == ::geteuid());
  auto answer = std::async(std::launch::async, [&] { return inquire(*self); });
  REQUIRE(wait_for(inquiry.fd(), POLLIN, steady_clock().now() + 20 * kSecond));
  REQUIRE(inquiry.accept());
  inquiry.answer(std::string(40'000, 'x'));
  auto got = answer.get();
  REQUIRE(got);
  CHECK(*got == std::string(40'000, 'x'));
  CHECK(!inquire({1, 0}));
}
