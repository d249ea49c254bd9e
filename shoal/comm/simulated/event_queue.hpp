// SPDX-License-Identifier: Apache-2.0
//
// A simulation spends its time on "what happens next?", asked millions of times a second. Offered:
// a 4-ary heap of 24-byte events, ordered by time and, at equal times, by the order in which they
// were put in, so that the order depends on nothing else.
//
// Limit: memory; one event is 24 bytes, and the capacity once reached is kept.
#pragma once

#include <shoal/comm/clock.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
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

/// Whether the subject of such an event is a flight.
constexpr bool is_flight(EventKind kind) noexcept { return kind <= EventKind::returned; }

struct Event {
  Nanoseconds time;
  std::uint64_t order;    ///< given by the queue
  std::uint32_t subject;  ///< see EventKind
  EventKind kind;
};
static_assert(sizeof(Event) == 24);

class EventQueue {
 public:
  /// How many events are known ahead, in order.
  static constexpr std::uint32_t kAhead = 16;

  bool empty() const noexcept { return near_size_ == 0; }

  /// The event that comes `n` events after the earliest, if it is known already and not beyond
  /// kAhead; later pushes may come before it.
  const Event* ahead(std::uint32_t n) const noexcept {
    return n < near_size_ ? &near_[(near_first_ + n) % kAhead] : nullptr;
  }

  void push(Nanoseconds time, EventKind kind, std::uint32_t subject) {
    Event event{time, ++pushed_, subject, kind};
    if (near_size_ == kAhead) {
      if (earlier(event, near(kAhead - 1))) {
        std::swap(event, near(kAhead - 1));
        settle_near();
      }
      return push_far(event);
    }
    if (near_size_ != 0 && !far_.empty() && !earlier(event, far_.front())) return push_far(event);
    near(near_size_++) = event;
    settle_near();
  }

  /// Takes the earliest event; the queue is not empty.
  Event pop() noexcept {
    const Event first = near(0);
    near_first_ = (near_first_ + 1) % kAhead;
    --near_size_;
    if (!far_.empty()) near(near_size_++) = pop_far();
    return first;
  }

  void clear() noexcept {
    far_.clear();
    near_size_ = 0;
  }

 private:
  static constexpr std::size_t kArity = 4;

  static bool earlier(const Event& a, const Event& b) noexcept {
    return a.time != b.time ? a.time < b.time : a.order < b.order;
  }

  Event& near(std::uint32_t n) noexcept { return near_[(near_first_ + n) % kAhead]; }

  /// Moves the last of the near events to where it belongs.
  void settle_near() noexcept {
    for (std::uint32_t n = near_size_ - 1; n != 0 && earlier(near(n), near(n - 1)); --n) {
      std::swap(near(n), near(n - 1));
    }
  }

  void push_far(const Event& event) {
    std::size_t hole = far_.size();
    far_.push_back(event);
    while (hole != 0) {
      const std::size_t parent = (hole - 1) / kArity;
      if (!earlier(event, far_[parent])) break;
      far_[hole] = far_[parent];
      hole = parent;
    }
    far_[hole] = event;
  }

  Event pop_far() noexcept {
    const Event first = far_.front();
    const Event last = far_.back();
    far_.pop_back();
    if (!far_.empty()) sift_down(last);
    return first;
  }

  void sift_down(const Event& event) noexcept {
    const std::size_t size = far_.size();
    std::size_t hole = 0;
    for (;;) {
      const std::size_t first = hole * kArity + 1;
      if (first >= size) break;
      const std::size_t end = first + kArity < size ? first + kArity : size;
      std::size_t least = first;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (earlier(far_[child], far_[least])) least = child;
      }
      if (!earlier(far_[least], event)) break;
      far_[hole] = far_[least];
      hole = least;
    }
    far_[hole] = event;
  }

  // The earliest events, sorted, in a ring; none of them is later than any in the heap far_.
  std::array<Event, kAhead> near_{};
  std::uint32_t near_first_ = 0;
  std::uint32_t near_size_ = 0;
  std::vector<Event> far_;
  std::uint64_t pushed_ = 0;
};

}  // namespace shoal::comm
