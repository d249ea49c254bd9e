// SPDX-License-Identifier: Apache-2.0
#include <tools/why.hpp>

#include <shoal/comm/bootstrap/inquiry.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

namespace shoal::tools {

namespace {
std::string command_of(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/cmdline", process));
  std::string text;
  std::getline(file, text);
  std::replace(text.begin(), text.end(), '\0', ' ');
  return text;
}
}  // namespace

int tell_why(int process) {
  auto jobs = comm::inquirable_processes();
  std::erase_if(jobs, [&](const comm::Inquirable& job) {
    const bool mine = job.user == ::geteuid() || ::geteuid() == 0;
    return !mine || (process != 0 && job.process != process);
  });
  if (jobs.empty()) {
    fmt::print(stderr, "shoal why: {}\n",
               process != 0 ? fmt::format("process {} runs no job that you may ask", process)
                            : "no job of several processes runs here (a program alone tells on "
                              "SIGQUIT: kill -QUIT PID)");
    return 1;
  }
  if (jobs.size() > 1) {
    fmt::print(stderr, "shoal why: several jobs run; name one: shoal why PID\n");
    for (const auto& job : jobs)
      fmt::print(stderr, "  {}  {}\n", job.process, command_of(job.process));
    return 2;
  }
  auto text = comm::inquire(jobs.front());
  if (!text) {
    fmt::print(stderr, "shoal why: {}\n", text.error().text);
    return 1;
  }
  fmt::print("{}", *text);
  return 0;
}

}  // namespace shoal::tools
