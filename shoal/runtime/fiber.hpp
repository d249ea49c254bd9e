// SPDX-License-Identifier: Apache-2.0
// The problem: some code must wait deep inside calls that know nothing of coroutines. Offered: an
// entry whose first parameter is a Fiber& runs on a stack of its own and may block on it: only code
// that holds a Fiber& can. A fiber stays on its PE. Stacks are pooled, with a guard;
// sanitizers are told of every switch.
#pragma once

#include <shoal/runtime/stack_pool.hpp>
#include <shoal/runtime/waitable.hpp>

#include <chrono>
#include <utility>

namespace shoal::runtime {

class FiberState;

/// Thrown by what a fiber waits for when the program ends first, so that its stack is unwound. Do
/// not keep it: what waits again throws it again.
struct FiberUnwound {};

/// Given to a fiber entry; valid as long as it runs.
class Fiber {
 public:
  explicit Fiber(FiberState& state) noexcept : state_(state) {}
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Blocks this fiber until `waitable` is ready; the PE goes on. Returns or throws its result.
  template <Waitable W>
  decltype(auto) await(W&& waitable) {
    if (!waitable.ready()) {
      waitable.suspend(this_pe(), waiter());
      block();
    }
    return waitable.take();
  }
  template <class Rep, class Period>
  void sleep_for(std::chrono::duration<Rep, Period> pause) {
    await(runtime::sleep_for(pause));
  }
  void yield() { await(Yield{}); }

 private:
  Waiter& waiter() noexcept;
  void block();
  FiberState& state_;
};

/// Runs `body(fiber, argument)` on a fresh stack until it first blocks or ends. `body` must not
/// throw anything but FiberUnwound.
void start_fiber(Pe& pe, const Activity& who, void (*body)(Fiber& fiber, void* argument),
                 void* argument);

/// Ends all fibers of a PE that has stopped, by FiberUnwound.
void unwind_fibers(Pe& pe) noexcept;

/// Prints "stack overflow in fiber of …" instead of dying silently when a guard is hit. Called
/// on each PE's thread.
void watch_stack_overflow();

}  // namespace shoal::runtime
