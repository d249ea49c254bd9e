// SPDX-License-Identifier: Apache-2.0
// The problem: code that waits must be resumed once, on its PE, without recursion, and as long as
// it waits it must be possible to say who waits for what, and since when. Offered: `Waiter`, which
// lies in the frame or on the stack of what waits and is itself the message that resumes it, so
// waiting allocates nothing; and the list of a PE's waiters, which the report of a stuck program
// reads.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/runtime/message.hpp>

#include <coroutine>
#include <cstdint>

namespace shoal::runtime {

class WaitList;

/// Belongs to one PE. One per coroutine and one per fiber: each waits for one thing at a time.
struct Waiter : Message {
  explicit Waiter(const MessageType& how) noexcept : Message(how) {}
  Waiter(const Waiter&) = delete;
  Waiter& operator=(const Waiter&) = delete;

  Activity who;                 ///< the entry that waits
  const char* waits_for = "";   ///< "a reply", "quiescence", "a timer"
  Activity on;                  ///< the entry that was called, if any
  comm::Nanoseconds since = 0;  ///< when it began, to about a millisecond
  bool service = false;         ///< waiting for ever is its business: no deadlock
  WaitList* list = nullptr;     ///< where it is to be woken from, if it is a list
  Waiter* next_same = nullptr;  ///< its neighbours in that list
  Waiter* previous_same = nullptr;
  Waiter* previous = nullptr;  ///< in the PE's list of all waiters
  Waiter* following = nullptr;
};

/// Resumes a coroutine.
struct CoroutineWaiter final : Waiter {
  CoroutineWaiter() noexcept;
  static const MessageType kType;
  std::coroutine_handle<> handle;
};

/// What the type of message of any waiter does when it is described, or dropped without being
/// resumed.
Activity describe_wait(const Message& message) noexcept;
void drop_wait(Pe& pe, Message* message) noexcept;

/// Those that wait for one thing. Belongs to one PE.
class WaitList {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  void add(Pe& pe, Waiter& waiter) noexcept;
  /// Puts all of them on the PE's queue, in the order in which they came.
  void wake_all(Pe& pe) noexcept;
  /// Forgets a waiter that is being destroyed before its time.
  void remove(Pe& pe, Waiter& waiter) noexcept;

 private:
  Waiter* first_ = nullptr;
  Waiter* last_ = nullptr;
};

}  // namespace shoal::runtime
