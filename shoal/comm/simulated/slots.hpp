// SPDX-License-Identifier: Apache-2.0
//
// Records that come and go by the million must neither be allocated one by one nor be told apart by
// their address, which differs from run to run. Offered: a table of T whose slots are named by
// 32-bit numbers and reused, last given first taken; a T links itself into lists through its
// `next`.
//
// Limit: 2^32 - 1 slots in use, checked. References end with the next `take`.
#pragma once

#include <shoal/comm/error.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shoal::comm {

inline constexpr std::uint32_t kNoSlot = 0xffffffffU;

template <class T>
class Slots {
 public:
  std::uint32_t take() {
    ++in_use_;
    if (free_ != kNoSlot) [[likely]] {
      const std::uint32_t slot = free_;
      free_ = slots_[slot].next;
      slots_[slot].next = kNoSlot;
      return slot;
    }
    SHOAL_CHECK(slots_.size() < kNoSlot, "{} records under way", slots_.size());
    slots_.emplace_back();
    return static_cast<std::uint32_t>(slots_.size() - 1);
  }

  void give(std::uint32_t slot) noexcept {
    slots_[slot] = T{};
    slots_[slot].next = free_;
    free_ = slot;
    --in_use_;
  }

  T& operator[](std::uint32_t slot) noexcept { return slots_[slot]; }
  const T& operator[](std::uint32_t slot) const noexcept { return slots_[slot]; }
  std::uint32_t in_use() const noexcept { return in_use_; }
  /// Slots in use or free: numbers below this one are valid.
  std::uint32_t size() const noexcept { return static_cast<std::uint32_t>(slots_.size()); }

  void clear() noexcept {
    slots_.clear();
    free_ = kNoSlot;
    in_use_ = 0;
  }

 private:
  std::vector<T> slots_;
  std::uint32_t free_ = kNoSlot;
  std::uint32_t in_use_ = 0;
};

}  // namespace shoal::comm
