// SPDX-License-Identifier: Apache-2.0
// The problem: two shared_ptrs to one object must point to one object after a move, too. Offered:
// `Tracker`, the objects that one archive has met so far, and `LazyTracker`, which costs one null
// pointer until a codec asks for it. Identity holds within one archive, not between messages.
#pragma once

#include <cstddef>
#include <cstdint>

namespace shoal::actors {

/// Numbers objects from 0 in the order in which they are met.
struct Tracker;

/// Stands for a type: compared by address.
template <class T>
inline constexpr char kTypeAddress = 0;

struct Met {
  std::uint64_t number;
  bool before;
};
/// Sizing and writing: the number of the object at `address`, seen as `type`.
Met meet(Tracker& tracker, const void* address, const void* type);
/// Reading: makes `holder` (a shared_ptr on the heap) the next number, until `destroy` at the end.
void keep(Tracker& tracker, void* holder, const void* type, void (*destroy)(void*));
/// Reading: the holder of object `number`, or null if there is none or it is of another type.
void* find(Tracker& tracker, std::uint64_t number, const void* type);

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
