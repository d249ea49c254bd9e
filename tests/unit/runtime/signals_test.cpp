// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/signals.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <csignal>

using shoal::runtime::SignalHandlers;

namespace {
// Lock-free, so a handler may write to them.
std::atomic<int> order{0};
std::atomic<int> ours{0};
std::atomic<int> users{0};
static_assert(std::atomic<int>::is_always_lock_free);
void our_handler(int) { ours = ++order; }
void users_handler(int) { users = ++order; }
void users_full_handler(int, siginfo_t* info, void*) {
  if (info != nullptr) users = ++order;
}
void reset() {
  order = 0;
  ours = 0;
  users = 0;
}
}  // namespace

TEST_CASE("the program's handler runs after ours, and is back when ours are gone") {
  reset();
  ::signal(SIGUSR1, &users_handler);
  struct sigaction full {};
  full.sa_sigaction = &users_full_handler;
  full.sa_flags = SA_SIGINFO;
  ::sigaction(SIGUSR2, &full, nullptr);
  {
    SignalHandlers handlers;
    handlers.take(SIGUSR1, &our_handler);
    ::raise(SIGUSR1);
    CHECK(ours == 1);
    CHECK(users == 2);
    reset();
    handlers.take(SIGUSR2, &our_handler);
    ::raise(SIGUSR2);
    CHECK(ours == 1);
    CHECK(users == 2);
  }
  reset();
  ::raise(SIGUSR1);
  ::raise(SIGUSR2);
  CHECK(ours == 0);
  CHECK(users == 2);
  ::signal(SIGUSR1, SIG_DFL);
  ::signal(SIGUSR2, SIG_DFL);
}

TEST_CASE("a signal that the program does not handle, or ignores, is ours alone") {
  for (auto* const before : {SIG_DFL, SIG_IGN}) {
    reset();
    ::signal(SIGUSR1, before);
    {
      SignalHandlers handlers;
      handlers.take(SIGUSR1, &our_handler);
      handlers.ignore(SIGUSR2);
      ::raise(SIGUSR1);
      ::raise(SIGUSR2);
    }
    CHECK(ours == 1);
    struct sigaction now {};
    ::sigaction(SIGUSR1, nullptr, &now);
    CHECK((now.sa_handler == before));
  }
  ::signal(SIGUSR1, SIG_DFL);
}
