// SPDX-License-Identifier: Apache-2.0
// The problem: a job listens to a few signals while it runs, and the program may have handlers of
// its own for them, before and after. Offered: handlers that call the program's behind themselves,
// and put it back at the end.
#pragma once

#include <csignal>
#include <vector>

namespace shoal::runtime {

/// One at a time in a process. Handlers must be async-signal-safe.
class SignalHandlers {
 public:
  SignalHandlers() = default;
  SignalHandlers(const SignalHandlers&) = delete;
  SignalHandlers& operator=(const SignalHandlers&) = delete;
  ~SignalHandlers();

  /// From now on `handler` runs, then what the program had set before, if that is a function.
  void take(int number, void (*handler)(int));
  /// From now on the signal does nothing, unless the program has set a function for it.
  void ignore(int number) { take(number, nullptr); }
  /// From within a handler: the next signal of this number ends the process.
  static void next_one_ends(int number) noexcept { ::signal(number, SIG_DFL); }

 private:
  std::vector<int> taken_;
};

}  // namespace shoal::runtime
