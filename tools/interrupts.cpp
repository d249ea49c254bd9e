// SPDX-License-Identifier: Apache-2.0
#include <tools/interrupts.hpp>

#include <sys/signalfd.h>
#include <unistd.h>

namespace shoal::tools {

Interrupts::Interrupts() {
  sigset_t ending;
  sigemptyset(&ending);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    // nohup and background jobs of scripts ignore some of them; so does the job then.
    struct sigaction action {};
    ::sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&ending, number);
  }
  ::sigprocmask(SIG_BLOCK, &ending, &previous_mask_);
  ::signal(SIGPIPE, SIG_IGN);
  fd_.reset(::signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK));
}

Interrupts::~Interrupts() { ::sigprocmask(SIG_SETMASK, &previous_mask_, nullptr); }

std::optional<Interrupts::Signal> Interrupts::next() {
  signalfd_siginfo info{};
  if (::read(fd_.get(), &info, sizeof(info)) != sizeof(info)) return std::nullopt;
  return Signal{static_cast<int>(info.ssi_signo), info.ssi_code == SI_KERNEL};
}

TerminalState::TerminalState() {
  termios state{};
  if (::tcgetattr(STDIN_FILENO, &state) == 0) state_ = state;
}

TerminalState::~TerminalState() {
  termios now{};
  if (!state_ || ::tcgetattr(STDIN_FILENO, &now) != 0) return;
  if (now.c_iflag == state_->c_iflag && now.c_oflag == state_->c_oflag &&
      now.c_cflag == state_->c_cflag && now.c_lflag == state_->c_lflag) {
    return;
  }
  if (::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) ::tcsetattr(STDIN_FILENO, TCSANOW, &*state_);
}

}  // namespace shoal::tools
