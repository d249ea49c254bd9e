// SPDX-License-Identifier: Apache-2.0
// A process of a job that does what its arguments say, for launcher_test.py. Each argument is
// RANK:ACTION or RANK:ACTION=VALUE, where RANK may be *; the actions of a process are done in
// order. One that has nothing left to do waits for the job's end and returns its code.
#include <shoal/comm/bootstrap/bootstrap.hpp>

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

namespace {

using namespace shoal::comm;

struct Action {
  std::string name;
  std::string value;
  int number() const { return std::atoi(value.c_str()); }
};

std::atomic<int> stop_code{-1};  // seq_cst: written by the bootstrap's thread, read by main

std::vector<Action> actions_of(int argc, char** argv, const std::string& rank) {
  std::vector<Action> actions;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::string whose = argument.substr(0, argument.find(':'));
    if (whose != "*" && whose != rank) continue;
    const std::string what = argument.substr(argument.find(':') + 1);
    const std::size_t equals = what.find('=');
    actions.push_back(
        {what.substr(0, equals), equals == std::string::npos ? "" : what.substr(equals + 1)});
  }
  return actions;
}

void print_lines(const std::string& rank, int count) {
  for (int i = 0; i < count; ++i) {
    std::string line = fmt::format("{} {} ", rank, i);
    line.resize(199, static_cast<char>('a' + i % 26));
    std::puts(line.c_str());
  }
  std::fflush(stdout);
}

void make_terminal_raw() {
  termios state{};
  if (::tcgetattr(STDIN_FILENO, &state) != 0) return;
  ::cfmakeraw(&state);
  ::tcsetattr(STDIN_FILENO, TCSANOW, &state);
}

[[noreturn]] void sleep_for_ever() {
  while (true) ::pause();
}

/// What needs no job.
void act(const Action& action, const std::string& rank) {
  if (action.name == "say") fmt::print(stderr, "{}\n", action.value);
  if (action.name == "ready") fmt::print("ready {} {}\n", rank, ::getpid());
  if (action.name == "print") print_lines(rank, action.number());
  if (action.name == "raw") make_terminal_raw();
  if (action.name == "ignore") std::signal(action.number(), SIG_IGN);
  if (action.name == "deaf") sleep_for_ever();
  if (action.name == "signal") std::raise(action.number());
  if (action.name == "throw") throw std::runtime_error(action.value);
  if (action.name == "return") std::exit(action.number());
  std::fflush(stdout);
}

void act_in_job(Bootstrap& job, const Action& action) {
  if (action.name == "exit") job.exit(action.number());
  if (action.name == "fail") job.failed(action.value, 9);
  if (action.name == "barrier" && !job.barrier(action.value, steady_clock().now() + 20 * kSecond)) {
    std::_Exit(77);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* given = std::getenv("SHOAL_RANK");
  const std::string rank = given != nullptr ? given : "0";
  Identity identity;
  identity.pes = pes_from_launcher().value_or(1);
  identity.ucx = "none";
  std::unique_ptr<Bootstrap> job;
  for (const Action& action : actions_of(argc, argv, rank)) {
    if (action.name == "build") identity.build = action.value;
    if (action.name == "entries") {
      identity.entries = action.value;
      identity.entry_digest[0] = std::byte{1};
    }
    if (action.name == "join") {
      std::signal(SIGINT, SIG_IGN);  // the launcher hears it and ends the job in order
      auto joined = Bootstrap::connect(identity, [](int code, const std::string&) {
        stop_code = code;
        stop_code.notify_all();
      });
      if (!joined) return 1;
      job = std::move(*joined);
    }
    act(action, rank);
    if (job) act_in_job(*job, action);
  }
  if (!job) return 0;
  stop_code.wait(-1);
  return stop_code;
}
