// SPDX-License-Identifier: Apache-2.0
// The problem: elements, collections and peers are found by 64-bit ids on every message, and a PE
// may hold no table that grows with the job. Offered: a small hash map from ids to values, open
// addressing with linear probing and a multiplicative hash (D. Knuth, TAOCP 3, 6.4), deletion by
// shifting back, so that nothing is left behind by what came and went. An empty map owns no memory;
// a look-up is about a dozen instructions.
//
// Limits: memory is at most 4 slots an id at the largest size the map has had; it is not given back
// before the map is. A pointer or reference to a value holds until the next insert or erase.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace shoal::comm {

/// Any key but kNoKey; `Value` is default-constructible and movable.
template <class Value>
class IdMap {
 public:
  static constexpr std::uint64_t kNoKey = ~std::uint64_t{0};

  IdMap() noexcept = default;
  IdMap(IdMap&& other) noexcept { swap(other); }
  IdMap& operator=(IdMap&& other) noexcept {
    IdMap(std::move(other)).swap(*this);
    return *this;
  }

  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }

  /// The value of `key`, or nullptr.
  Value* find(std::uint64_t key) noexcept {
    if (size_ == 0) return nullptr;
    for (std::size_t at = home(key);; at = (at + 1) & mask_) {
      if (slots_[at].key == key) [[likely]]
        return &slots_[at].value;
      if (slots_[at].key == kNoKey) return nullptr;
    }
  }
  const Value* find(std::uint64_t key) const noexcept {
    return const_cast<IdMap*>(this)->find(key);
  }

  /// Sets the value of `key`, whether or not it had one.
  Value& insert(std::uint64_t key, Value value) {
    if (Value* present = find(key)) return *present = std::move(value);
    if ((size_ + 1) * 4 > capacity() * 3) grow();
    ++size_;
    Slot& slot = slots_[free_slot(key)];
    slot.key = key;
    return slot.value = std::move(value);
  }

  /// False: there was none.
  bool erase(std::uint64_t key) noexcept {
    if (size_ == 0) return false;
    std::size_t hole = home(key);
    while (slots_[hole].key != key) {
      if (slots_[hole].key == kNoKey) return false;
      hole = (hole + 1) & mask_;
    }
    for (std::size_t at = (hole + 1) & mask_; slots_[at].key != kNoKey; at = (at + 1) & mask_) {
      // What lies at `at` may move into the hole unless its home is cyclically in (hole, at].
      const std::size_t from_home = (at - home(slots_[at].key)) & mask_;
      if (from_home < ((at - hole) & mask_)) continue;
      slots_[hole] = std::move(slots_[at]);
      hole = at;
    }
    slots_[hole] = Slot{};
    --size_;
    return true;
  }

  void clear() noexcept { IdMap().swap(*this); }

  /// Calls `visit(key, value)` for each; `visit` must not insert or erase. The order says nothing.
  template <class Visit>
  void for_each(Visit&& visit) {
    for (std::size_t at = 0; size_ != 0 && at <= mask_; ++at) {
      if (slots_[at].key != kNoKey) visit(slots_[at].key, slots_[at].value);
    }
  }
  template <class Visit>
  void for_each(Visit&& visit) const {
    const_cast<IdMap*>(this)->for_each(
        [&](std::uint64_t key, const Value& value) { visit(key, value); });
  }

  void swap(IdMap& other) noexcept {
    std::swap(slots_, other.slots_);
    std::swap(mask_, other.mask_);
    std::swap(shift_, other.shift_);
    std::swap(size_, other.size_);
  }

 private:
  struct Slot {
    std::uint64_t key = kNoKey;
    Value value{};
  };
  static constexpr std::size_t kSmallest = 8;

  std::size_t capacity() const noexcept { return slots_ == nullptr ? 0 : mask_ + 1; }
  std::size_t home(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>((key * 0x9e3779b97f4a7c15ULL) >> shift_);
  }
  std::size_t free_slot(std::uint64_t key) const noexcept {
    std::size_t at = home(key);
    while (slots_[at].key != kNoKey) at = (at + 1) & mask_;
    return at;
  }
  void grow() {
    const std::size_t before = capacity();
    const std::size_t after = before == 0 ? kSmallest : before * 2;
    std::unique_ptr<Slot[]> old = std::move(slots_);
    slots_ = std::make_unique<Slot[]>(after);
    mask_ = after - 1;
    shift_ = before == 0 ? 64U - 3U : shift_ - 1U;
    for (std::size_t i = 0; i < before; ++i) {
      if (old[i].key == kNoKey) continue;
      const std::size_t at = free_slot(old[i].key);
      slots_[at] = std::move(old[i]);
    }
  }

  std::unique_ptr<Slot[]> slots_;
  std::size_t mask_ = 0;
  unsigned shift_ = 63;  // 64 - log2(capacity)
  std::size_t size_ = 0;
};

}  // namespace shoal::comm
