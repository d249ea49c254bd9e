// SPDX-License-Identifier: Apache-2.0
// The problem: Ctrl-C and kill must end a job in order, and a killed program must not leave the
// terminal in its own mode. Offered: the signals that are for the launcher, as a descriptor to
// poll, and the terminal's state, put back at the end.
#pragma once

#include <shoal/comm/descriptor.hpp>

#include <termios.h>

#include <csignal>
#include <optional>

namespace shoal::tools {

/// Blocks SIGINT, SIGTERM, SIGHUP and SIGQUIT for this process while it lives; ignores SIGPIPE.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  struct Signal {
    int number;
    bool from_terminal;  ///< then the whole process group has got it
  };
  int fd() const noexcept { return fd_.get(); }
  std::optional<Signal> next();
  /// What was blocked before, for the children.
  const sigset_t& previous_mask() const noexcept { return previous_mask_; }

 private:
  comm::Descriptor fd_;
  sigset_t previous_mask_;
};

/// Puts the state of the terminal at stdin back when it goes, if this process may.
class TerminalState {
 public:
  TerminalState();
  ~TerminalState();
  TerminalState(const TerminalState&) = delete;
  TerminalState& operator=(const TerminalState&) = delete;

 private:
  std::optional<termios> state_;
};

}  // namespace shoal::tools
