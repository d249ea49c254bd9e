// SPDX-License-Identifier: Apache-2.0
//
// A simulation spends its time on "what happens next?", asked millions of times a second. Offered:
// a 4-ary heap of 24-byte events, ordered by time and, at equal times, by the order in which they
// were put in, so that the order depends on nothing else.
//
// Limit: memory; one event is 24 bytes, and the capacity once reached is kept.
#pragma once

#include <shoal/comm/clock.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::comm {

enum class EventKind : std::uint32_t {
  frame,     ///< a frame arrives; subject: flight
  bulk,      ///< the bytes of a bulk arrive; subject: flight
  returned,  ///< the sender of a bulk hears that it has ended; subject: flight
  wake,      ///< a time that a PE asked for; subject: PE
  run,       ///< a PE that was busy or stalled has time now; subject: PE
  loss,      ///< a process is lost, by script; subject: process
};

struct Event {
  Nanoseconds time;
  std::uint64_t order;    ///< given by the queue
  std::uint32_t subject;  ///< see EventKind
  EventKind kind;
};
static_assert(sizeof(Event) == 24);

class EventQueue {
 public:
  bool empty() const noexcept { return heap_.empty(); }
  std::size_t size() const noexcept { return heap_.size(); }

  /// The earliest event; the queue is not empty.
  const Event& top() const noexcept { return heap_.front(); }

  void push(Nanoseconds time, EventKind kind, std::uint32_t subject) {
    const Event event{time, ++pushed_, subject, kind};
    std::size_t hole = heap_.size();
    heap_.push_back(event);
    while (hole != 0) {
      const std::size_t parent = (hole - 1) / kArity;
      if (!earlier(event, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = event;
  }

  /// Takes the earliest event; the queue is not empty.
  Event pop() noexcept {
    const Event first = heap_.front();
    const Event last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(last);
    return first;
  }

  void clear() noexcept { heap_.clear(); }

 private:
  static constexpr std::size_t kArity = 4;

  static bool earlier(const Event& a, const Event& b) noexcept {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  }

  void sift_down(const Event& event) noexcept {
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = hole * kArity + 1;
      if (first >= size) break;
      const std::size_t end = first + kArity < size ? first + kArity : size;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (earlier(heap_[child], heap_[least])) least = child;
      }
      if (!earlier(heap_[least], event)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = event;
  }

  std::vector<Event> heap_;
  std::uint64_t pushed_ = 0;
};

}  // namespace shoal::comm
