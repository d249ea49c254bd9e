// SPDX-License-Identifier: Apache-2.0
// The problem: a process of the job must die with the launcher, get its secret unseen, and its
// death and last words must reach the launcher at once. Offered: starting it, and what the launcher
// keeps of it.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/comm/descriptor.hpp>
#include <shoal/comm/error.hpp>
#include <shoal/comm/ids.hpp>
#include <shoal/comm/secret.hpp>

#include <tools/output.hpp>

#include <sys/types.h>

#include <csignal>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace shoal::tools {

/// One output of a child: the pipe, and what cuts it into lines.
struct Stream {
  comm::Descriptor pipe;
  LineForwarder lines;
  Sink* sink;

  /// Forwards what is at hand, up to one buffer. False: the pipe is at its end, and closed.
  bool pump();
  /// Forwards all that is in the pipe now.
  void drain();
  /// Nothing more is read; what is held goes out.
  void finish();
};

struct Child {
  comm::ProcessId rank;
  pid_t pid;
  comm::Descriptor pidfd;
  comm::Descriptor failure;  ///< holds an errno if the program could not be executed
  Stream out;
  Stream error;
  comm::Nanoseconds started;
  std::optional<int> status;  ///< waitpid's, once it is dead

  bool alive() const noexcept { return !status.has_value(); }
  void signal(int number) const noexcept;
};

/// What all children share, and what was the launcher's before it changed it for itself.
struct Launchpad {
  std::string path;
  std::vector<std::string> command;
  std::vector<std::string> environment;  ///< complete but for what `start` adds for each
  std::vector<std::uint32_t> pes;
  comm::Secret secret;
  sigset_t signal_mask;
  unsigned long open_files;  ///< RLIMIT_NOFILE's soft limit
  bool prefix;
  Sink* out;
  Sink* error;
};

comm::Expected<Child> start(const Launchpad& launchpad, comm::ProcessId rank);

/// Blocks until `child` has become its program, or could not.
comm::Expected<void> await_program(Child& child);

/// "was killed by SIGSEGV" or "exited with code 3".
std::string describe(int status);
/// A shell's code: the exit code, or 128 + the signal.
int code_of(int status);

}  // namespace shoal::tools
