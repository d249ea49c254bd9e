// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/error.hpp>

#include <doctest/doctest.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string>

using namespace shoal::comm;  // NOLINT(google-build-using-namespace)

namespace {

/// What `body` writes to stderr in a process of its own, and how that process ends.
template <class Body>
std::pair<std::string, int> in_a_child(Body&& body) {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    body();
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[256];
  for (ssize_t got = 0; (got = read(ends[0], buffer, sizeof buffer)) > 0;) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return {text, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status)};
}

Expected<int> half_of(int value) {
  if (value % 2 != 0) return make_error(ErrorCode::bad_argument, "3 is odd");
  return value / 2;
}

TEST_CASE("an expected value is there or an error says why not") {
  CHECK(half_of(4));
  CHECK(half_of(4).value() == 2);
  const Expected<int> failed = half_of(3);
  CHECK_FALSE(failed);
  CHECK(failed.error().code == ErrorCode::bad_argument);
  CHECK(failed.error().text == "3 is odd");
}

TEST_CASE("an expected value can be moved out, also if it cannot be copied") {
  Expected<std::unique_ptr<int>> made(std::make_unique<int>(5));
  const std::unique_ptr<int> value = std::move(made).value();
  CHECK(*value == 5);
}

TEST_CASE("an expected nothing is success, or an error") {
  const Expected<void> fine;
  CHECK(fine);
  const Expected<void> failed = make_error(ErrorCode::timed_out, "late");
  CHECK_FALSE(failed);
  CHECK(failed.error().text == "late");
}

TEST_CASE("an error's text names the code and the place that noticed") {
  const std::string text = to_string(make_error(ErrorCode::unreachable, "PE 3 is gone"));
  CHECK(text.find("PE 3 is gone [unreachable, ") == 0);
  CHECK(text.find("error_test.cpp:") != std::string::npos);
}

TEST_CASE("a system error carries the text of errno") {
  CHECK(system_error("cannot open x", ENOENT).text == "cannot open x: No such file or directory");
}

TEST_CASE("every error code has a name") {
  for (int code = 0; code <= static_cast<int>(ErrorCode::system); ++code) {
    CHECK(std::string(name(static_cast<ErrorCode>(code))) != "");
  }
}

TEST_CASE("a failed check prints condition, values and place, and ends the process with its code") {
  const auto [text, code] = in_a_child([] {
    const int got = 3;
    SHOAL_CHECK(got == 4, "got {} of {}", got, 4);
  });
  CHECK(code == kCheckFailed);
  CHECK(text.find("got 3 of 4 (got == 4) at ") != std::string::npos);
  CHECK(text.find("error_test.cpp:") != std::string::npos);
}

TEST_CASE("a check that holds evaluates its condition once and prints nothing") {
  int evaluated = 0;
  SHOAL_CHECK(++evaluated == 1, "never");
  CHECK(evaluated == 1);
}

TEST_CASE("asking an error for its value is a failed check with the error's text") {
  const auto [text, code] = in_a_child([] { static_cast<void>(half_of(3).value()); });
  CHECK(code == kCheckFailed);
  CHECK(text.find("3 is odd") != std::string::npos);
}

TEST_CASE("the hook hears of a failed check once, also if it fails a check itself") {
  const auto [text, code] = in_a_child([] {
    on_check_failed([](const std::string& first) {
      const std::string line = "hook: " + first + "\n";
      [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, line.data(), line.size());
      SHOAL_CHECK(false, "within the hook");
    });
    SHOAL_CHECK(false, "outside");
  });
  CHECK(code == kCheckFailed);
  CHECK(text.find("hook: check failed: outside") != std::string::npos);
  CHECK(text.find("hook: check failed: within") == std::string::npos);
}

}  // namespace
