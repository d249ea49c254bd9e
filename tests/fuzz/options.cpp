// SPDX-License-Identifier: Apache-2.0
// The runtime's options, from a command line and an environment, a line each: "NAME=value" with one
// of our variables' names is the environment's, all else an argument. Bytes above 127 stand for
// words. What is accepted is in range and can be used; what is not says why. Also what the launcher
// hands over by environment.
#include "target.hpp"

#include <shoal/comm/bootstrap/launch.hpp>
#include <shoal/runtime/options.hpp>

#include <array>
#include <cstdlib>
#include <vector>

namespace shoal::fuzz {

namespace {

constexpr std::array kVariables{
    "SHOAL_PES",   "SHOAL_BIND", "SHOAL_SPIN_US",      "SHOAL_LOG",  "SHOAL_FIBER_STACK",
    "SHOAL_WATCH", "SHOAL_SEED", "SHOAL_HANG_TIMEOUT", "SHOAL_RANK", "SHOAL_PROCESSES"};
// The order decides what kept inputs mean.
constexpr std::array kWords{"--shoal-pes=",
                            "--shoal-bind=",
                            "--shoal-spin-us=",
                            "--shoal-fiber-stack=",
                            "--shoal-hang-timeout=",
                            "--shoal-watch=",
                            "--shoal-seed=",
                            "--shoal-log=",
                            "--shoal-help",
                            "SHOAL_PES=",
                            "SHOAL_BIND=",
                            "SHOAL_SPIN_US=",
                            "SHOAL_FIBER_STACK=",
                            "SHOAL_WATCH=",
                            "SHOAL_SEED=",
                            "SHOAL_HANG_TIMEOUT=",
                            "SHOAL_LOG=",
                            "SHOAL_RANK=",
                            "SHOAL_PROCESSES=",
                            "auto",
                            "none",
                            "debug",
                            "inf",
                            "nan",
                            "1e300",
                            "1e-300",
                            "0x1p9",
                            "-1",
                            "18446744073709551615",
                            "4294967296",
                            "1048577",
                            "\n"};
constexpr double kMostSeconds = 1e9;
// Longer ones show nothing new, slowly.
constexpr std::size_t kMostArguments = 16;
constexpr std::size_t kMostBytes = 128;

bool is_variable(const std::string& line) {
  return std::any_of(kVariables.begin(), kVariables.end(), [&](const char* variable) {
    return line.starts_with(std::string(variable) + "=");
  });
}

/// Part of the environment while it lives: setenv would keep a copy of every value for ever.
class Variables {
 public:
  explicit Variables(std::vector<std::string> lines) : lines_(std::move(lines)) {
    for (std::string& line : lines_) ::putenv(line.data());
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;
  ~Variables() {
    for (const std::string& line : lines_) ::unsetenv(line.substr(0, line.find('=')).c_str());
  }

 private:
  std::vector<std::string> lines_;
};

void check_options(const runtime::Options& options) {
  SHOAL_CHECK(options.pes <= 1U << 20U, "{} PEs", options.pes);
  SHOAL_CHECK(options.bind == "auto" || options.bind == "none", "bind is {}", options.bind);
  SHOAL_CHECK(options.fiber_stack_kib >= 16 && options.fiber_stack_kib <= 1U << 20U, "{} KiB",
              options.fiber_stack_kib);
  for (const double seconds : {options.hang_timeout_s, options.watch_s}) {
    SHOAL_CHECK(seconds > 0 && seconds <= kMostSeconds, "{} s", seconds);
    SHOAL_CHECK(static_cast<std::int64_t>(seconds * 1e9) > 0, "{} s are no nanosecond", seconds);
  }
  (void)runtime::log_level(options);
}

void parse(const std::vector<std::string>& lines) {
  std::vector<const char*> arguments{"program"};
  for (const std::string& line : lines) arguments.push_back(line.c_str());
  const auto parsed = runtime::parse_options(static_cast<int>(arguments.size()), arguments.data());
  if (!parsed) {
    SHOAL_CHECK(!parsed.error().text.empty(), "a refusal without a reason");
    return;
  }
  const runtime::ParsedOptions& options = parsed.value();
  check_options(options.options);
  SHOAL_CHECK(options.arguments.at(0) == "program", "the program's name is gone");
  SHOAL_CHECK(options.arguments.size() <= arguments.size(), "arguments were made up");
}

void take_launch() {
  const Variables others({"SHOAL_RENDEZVOUS=127.0.0.1:1", "SHOAL_SECRET_FD=none"});
  if (const auto pes = comm::pes_from_launcher()) SHOAL_CHECK(*pes != 0, "no PE");
  const auto launch = comm::take_launch();
  SHOAL_CHECK(!launch && !launch.error().text.empty(), "a launch without a secret");
}

std::string text_of(Bytes input) {
  std::string text;
  for (const std::byte byte : input) {
    const auto code = static_cast<unsigned>(byte);
    if (code >= 128) {
      text += kWords.at(code % kWords.size());
    } else {
      text += code == 0 ? ' ' : static_cast<char>(code);
    }
  }
  return text;
}

}  // namespace

void try_input(Bytes input) {
  std::vector<std::string> arguments;
  std::vector<std::string> variables;
  const std::string text = text_of(input.first(std::min(input.size(), kMostBytes)));
  for (std::size_t at = 0; at < text.size() && arguments.size() < kMostArguments;) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    (is_variable(line) ? variables : arguments).push_back(std::move(line));
    at = end + 1;
  }
  const Variables environment(std::move(variables));
  parse(arguments);
  take_launch();
}

}  // namespace shoal::fuzz
