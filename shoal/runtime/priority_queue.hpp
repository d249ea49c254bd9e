// SPDX-License-Identifier: Apache-2.0
// The problem: some messages matter more than those before them. Offered: a heap, touched only once
// a message has a priority; all others stay in the plain queue. Limit: none of its own; an entry is
// 24 bytes.
#pragma once

#include <shoal/runtime/message.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace shoal::runtime {

/// Messages with a priority other than 0: the smallest number first, equal ones in order. Belongs
/// to one PE.
class PriorityQueue {
 public:
  void push(Message* message) {
    heap_.push_back({message->priority, ++sequence_, message});
    std::push_heap(heap_.begin(), heap_.end());
  }
  bool empty() const noexcept { return heap_.empty(); }
  /// Only when not empty.
  std::int32_t next_priority() const noexcept { return heap_.front().priority; }
  Message* pop() {
    std::pop_heap(heap_.begin(), heap_.end());
    Message* message = heap_.back().message;
    heap_.pop_back();
    return message;
  }

 private:
  struct Item {
    std::int32_t priority;
    std::uint64_t sequence;
    Message* message;
    bool operator<(const Item& other) const noexcept {
      return priority != other.priority ? priority > other.priority : sequence > other.sequence;
    }
  };
  std::vector<Item> heap_;
  std::uint64_t sequence_ = 0;
};

}  // namespace shoal::runtime
