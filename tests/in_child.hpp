// SPDX-License-Identifier: Apache-2.0
// The problem: what ends a process cannot be tested in the process that tests. Offered: a function
// run in a forked child, with how the child ended and what it said on stderr.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

struct ChildEnd {
  int exit_code = -1;  ///< -1: it died of a signal
  int signal = 0;
  std::string said;  ///< on stderr
};

/// `body` returns the exit code. Destructors of statics do not run in the child.
template <class Body>
ChildEnd in_child(const Body& body) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::_exit(body());
  }
  ::close(ends[1]);
  ChildEnd end;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    end.said.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFEXITED(status)) end.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end.signal = WTERMSIG(status);
  return end;
}

/// Whether `text` has `part` in it: reads well in CHECK.
inline bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
