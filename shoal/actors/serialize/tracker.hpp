// SPDX-License-Identifier: Apache-2.0
// The problem: two shared_ptrs to one object must point to one object after a move, too, at no cost
// for messages without any. Offered: `LazyTracker`, one null pointer in every archive until the
// codec in memory.hpp asks for a `Tracker` of the objects met so far.
#pragma once

namespace shoal::actors {

struct Tracker;
Tracker* make_tracker();
void destroy_tracker(Tracker* tracker) noexcept;

class LazyTracker {
 public:
  constexpr LazyTracker() = default;
  LazyTracker(const LazyTracker&) = delete;
  LazyTracker& operator=(const LazyTracker&) = delete;
  constexpr ~LazyTracker() {
    if (tracker_ != nullptr) destroy_tracker(tracker_);
  }
  Tracker& get() {
    if (tracker_ == nullptr) tracker_ = make_tracker();
    return *tracker_;
  }

 private:
  Tracker* tracker_ = nullptr;
};

}  // namespace shoal::actors
