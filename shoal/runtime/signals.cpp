// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/signals.hpp>

#include <array>

namespace shoal::runtime {

namespace {
struct Slot {
  void (*ours)(int) = nullptr;
  struct sigaction before {};
};
// By signal. Written before its signal is taken, and read by handlers only.
std::array<Slot, NSIG> slots;

void call_before(const struct sigaction& before, int number, siginfo_t* info, void* context) {
  if ((before.sa_flags & SA_SIGINFO) != 0) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  }
}

void dispatch(int number, siginfo_t* info, void* context) {
  const Slot& slot = slots[static_cast<std::size_t>(number)];
  if (slot.ours != nullptr) slot.ours(number);
  call_before(slot.before, number, info, context);
}
}  // namespace

void SignalHandlers::take(int number, void (*handler)(int)) {
  Slot& slot = slots[static_cast<std::size_t>(number)];
  ::sigaction(number, nullptr, &slot.before);
  slot.ours = handler;
  struct sigaction action {};
  action.sa_sigaction = &dispatch;
  action.sa_flags = SA_SIGINFO | SA_RESTART;
  ::sigaction(number, &action, nullptr);
  taken_.push_back(number);
}

SignalHandlers::~SignalHandlers() {
  for (const int number : taken_) {
    ::sigaction(number, &slots[static_cast<std::size_t>(number)].before, nullptr);
  }
}

}  // namespace shoal::runtime
