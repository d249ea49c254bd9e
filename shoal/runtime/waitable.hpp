// SPDX-License-Identifier: Apache-2.0
// The problem: a coroutine and a fiber wait for the same things. Offered: what such a thing must
// be, a Waitable; tasks `co_await` any of them, fibers `await` them.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/runtime/pe.hpp>

#include <chrono>
#include <concepts>
#include <type_traits>
#include <utility>

namespace shoal::runtime {

// A constant rather than the concept itself: compilers then say in one line that W is none.
template <class W>
inline constexpr bool can_be_awaited = requires(std::remove_reference_t<W>& waitable, Pe& pe,
                                                Waiter& waiter) {
  { waitable.ready() } -> std::convertible_to<bool>;
  waitable.suspend(pe, waiter);  // arranges that `waiter` is enqueued once
  waitable.take();               // the result, or throws what went wrong
};
template <class W>
concept Waitable = can_be_awaited<W>;

/// A pause of at least the time given, on the PE's clock.
class Sleep {
 public:
  explicit Sleep(comm::Nanoseconds pause) noexcept : pause_(pause) {}
  bool ready() const noexcept { return false; }
  void suspend(Pe& pe, Waiter& waiter) const {
    waiter.waits_for = "a timer";
    begin_wait(pe, waiter);
    pe.set_timer(pe.now() + pause_, &waiter);
  }
  void take() const noexcept {}

 private:
  comm::Nanoseconds pause_;
};

/// At most a century: more than fits the clock is that, too.
template <class Rep, class Period>
Sleep sleep_for(std::chrono::duration<Rep, Period> pause) noexcept {
  constexpr std::chrono::hours kCentury{100 * 365 * 24};
  if (std::chrono::duration<double>(pause) >= kCentury) {
    return Sleep{static_cast<comm::Nanoseconds>(std::chrono::nanoseconds(kCentury).count())};
  }
  const auto count = std::chrono::duration_cast<std::chrono::nanoseconds>(pause).count();
  return Sleep{count > 0 ? static_cast<comm::Nanoseconds>(count) : 0};
}

/// Lets what else is in the PE's queue run first.
class Yield {
 public:
  bool ready() const noexcept { return false; }
  void suspend(Pe& pe, Waiter& waiter) const noexcept {
    waiter.waits_for = "its turn";
    begin_wait(pe, waiter);
    pe.enqueue(&waiter);
  }
  void take() const noexcept {}
};

/// Until nothing moves in the whole program.
class QuiescenceWait {
 public:
  bool ready() const noexcept { return false; }
  void suspend(Pe& pe, Waiter& waiter) const {
    waiter.waits_for = "quiescence";
    waiter.service = true;  // the detector itself is no reason to call a program stuck
    pe.quiescence().wait(waiter);
  }
  void take() const noexcept {}
};

/// The same wait, marked as a service's: waiting for ever is its business, not a deadlock.
template <Waitable W>
class Service {
 public:
  explicit Service(W waitable) : waitable_(std::forward<W>(waitable)) {}
  bool ready() { return waitable_.ready(); }
  void suspend(Pe& pe, Waiter& waiter) {
    waiter.service = true;
    waitable_.suspend(pe, waiter);
  }
  decltype(auto) take() { return waitable_.take(); }

 private:
  W waitable_;
};

template <Waitable W>
Service<W> service(W&& waitable) {
  return Service<W>{std::forward<W>(waitable)};
}

}  // namespace shoal::runtime
