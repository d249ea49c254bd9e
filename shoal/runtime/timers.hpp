// SPDX-License-Identifier: Apache-2.0
// The problem: a PE must do things later without a thread, and know how long it may sleep. Offered:
// a binary heap of (deadline, message); a due message joins the PE's queue. Limit: none; a timer is
// 24 bytes.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/runtime/message.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shoal::runtime {

/// Belongs to one PE.
class Timers {
 public:
  void add(comm::Nanoseconds deadline, Message* message) {
    heap_.push_back({deadline, ++sequence_, message});
    std::push_heap(heap_.begin(), heap_.end());
  }
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }
  /// Only when not empty.
  comm::Nanoseconds next() const noexcept { return heap_.front().deadline; }
  /// The message of the earliest timer, which is removed.
  Message* take() {
    std::pop_heap(heap_.begin(), heap_.end());
    Message* message = heap_.back().message;
    heap_.pop_back();
    return message;
  }
  /// True if it was there; linear, for the rare cancellation.
  bool remove(const Message* message) {
    const auto at = std::find_if(heap_.begin(), heap_.end(),
                                 [&](const Timer& timer) { return timer.message == message; });
    if (at == heap_.end()) return false;
    heap_.erase(at);
    std::make_heap(heap_.begin(), heap_.end());
    return true;
  }

 private:
  struct Timer {
    comm::Nanoseconds deadline;
    std::uint64_t sequence;  // equal deadlines fire in the order in which they were set
    Message* message;
    bool operator<(const Timer& other) const noexcept {
      return deadline != other.deadline ? deadline > other.deadline : sequence > other.sequence;
    }
  };
  std::vector<Timer> heap_;
  std::uint64_t sequence_ = 0;
};

}  // namespace shoal::runtime
