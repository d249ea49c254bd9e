// SPDX-License-Identifier: Apache-2.0
// The problem: a message lives for a microsecond, and malloc costs more than the rest of its path.
// Offered: per-PE pools of blocks in power-of-two classes. A PE takes from its pool without
// atomics. A block that came from another PE is kept and used again, still in this core's cache, as
// long as about as many go the other way; the surplus of a one-way stream goes back in batches
// through one lock-free stack. The pools of a process end together, when no PE runs any more.
//
// Limits. A pool holds at most what was in use at once by the messages of its PE: in its own queue,
// in the inboxes of others, in transport buffers until sent, parked (waiting for an element, an
// await, a view that the user keeps), kMostAdopted blocks kept by each PE it sends to, and up to
// kReturnBatch + 1 on their way back. Blocks above kLargest, and idle blocks of the large
// classes above kIdleLargeBytes in all, are given back to malloc.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

namespace shoal::comm {

class Pool;
struct Block;

/// Where a block comes from; nullptr: not from a pool, never released.
struct Origin {
  Pool* owner = nullptr;
  std::uint8_t size_class = 0;  ///< capacity is Pool::kSmallest << size_class
};

/// The next block in whichever queue holds this one. Unset until it is stored, so that making a
/// block costs no store; several threads may use one.
class Link {
 public:
  Block* load(std::memory_order order) const noexcept {
    return std::atomic_ref<Block*>(const_cast<Link*>(this)->block_).load(order);
  }
  void store(Block* block, std::memory_order order) noexcept {
    std::atomic_ref<Block*>(block_).store(block, order);
  }

 private:
  Block* block_;
};

/// What every pooled object begins with. `next` links it in whichever queue holds it. What derives
/// from it has a trivial destructor, so that the block outlives it.
struct Block {
  Block() noexcept = default;
  explicit Block(Origin origin) noexcept : owner(origin.owner), size_class(origin.size_class) {}

  Link next;              // relaxed within a PE; the inbox and the return stack say more
  Pool* owner = nullptr;  // nullptr: not from a pool, never released
  std::uint8_t size_class = 0;
  std::uint8_t flags = 0;     // for the type that derives
  std::uint16_t tag = 0;      // for the type that derives
  std::int32_t priority = 0;  // for the type that derives
};

/// Blocks on their way back to their pool, listed in the room of the first of them: to follow links
/// through the blocks themselves would miss the cache once a block, one after the other.
struct ReturnList : Block {
  static constexpr unsigned kReturnBatch = 13;
  using Block::Block;
  // The first `tag`; the low bits of each, which an address leaves free, are the size class.
  std::array<std::byte*, kReturnBatch> blocks;
};

class Pool {
 public:
  static constexpr std::size_t kSmallest = 128;
  static constexpr unsigned kClasses = 18;    // 128 B to 16 MiB
  static constexpr unsigned kFirstLarge = 9;  // 64 KiB and above are allocated one by one
  // Large blocks begin so much before a page, and have so much more room: what follows a header
  // fills whole pages, which the kernel copies faster between processes.
  static constexpr std::size_t kLead = 64;
  static constexpr std::size_t kLargest = (kSmallest << (kClasses - 1)) + kLead;
  static constexpr std::size_t kIdleLargeBytes = std::size_t{64} << 20U;
  static constexpr unsigned kMostAdopted = 64;     // blocks of others kept rather than returned
  static constexpr std::uint8_t kUnpooled = 0xff;  // the class of a block above kLargest

  Pool() = default;
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  ~Pool();

  static constexpr unsigned class_of(std::size_t bytes) noexcept {
    if (bytes <= kSmallest) return 0;
    constexpr std::size_t kLargestSmall = kSmallest << (kFirstLarge - 1);
    if (bytes > kLargestSmall + kLead) bytes -= kLead;
    return static_cast<unsigned>(std::bit_width((bytes - 1) / kSmallest));
  }
  static std::size_t capacity(const Block& block) noexcept;

  /// Raw room for `bytes`, aligned to 64; prefer `make`.
  /// The owner's PE only. Ends the job by a CHECK when the machine has no memory.
  [[gnu::always_inline]] void* take(std::size_t bytes) {  // the size is mostly a constant
    const unsigned size_class = class_of(bytes);
    if (size_class < kClasses) [[likely]] {
      if (Block* block = free_[size_class]) [[likely]] {
        free_[size_class] = block->next.load(std::memory_order_relaxed);
        if (size_class >= kFirstLarge) idle_large_ -= kSmallest << size_class;
        return block;
      }
    }
    return take_slow(bytes, size_class);
  }

  /// A T at the front of `bytes` bytes (at least sizeof(T)); T's constructor takes the Origin
  /// first.
  template <class T, class... Arguments>
  T* make(std::size_t bytes, Arguments&&... arguments) {
    static_assert(std::is_base_of_v<Block, T> && std::is_trivially_destructible_v<T>);
    void* memory = take(bytes);
    const unsigned size_class = class_of(bytes);
    const Origin origin{this,
                        size_class < kClasses ? static_cast<std::uint8_t>(size_class) : kUnpooled};
    return ::new (memory) T(origin, std::forward<Arguments>(arguments)...);
  }

  /// Runs `write`, which fills `block` with what a program hands over: if that throws, the block
  /// goes back.
  template <class Write>
  [[gnu::always_inline]] void fill(Block* block, Write&& write) {
    try {
      write();
    } catch (...) {
      release(block);
      throw;
    }
  }

  /// Gives `block` back from the PE whose pool this is; `block` may belong to any pool.
  void release(Block* block) noexcept {
    if (block->owner == this && block->size_class < kFirstLarge) [[likely]] {
      block->next.store(free_[block->size_class], std::memory_order_relaxed);
      free_[block->size_class] = block;
    } else {
      release_slow(block);
    }
  }

  /// The same for a block that was made with this size: spares looking its class up.
  template <std::size_t kBytes>
  void release_sized(Block* block) noexcept {
    constexpr unsigned kClass = class_of(kBytes);
    if (block->owner == this && kClass < kFirstLarge) [[likely]] {
      block->next.store(free_[kClass], std::memory_order_relaxed);
      free_[kClass] = block;
    } else {
      release_slow(block);
    }
  }

  /// A block of this pool has been handed to another PE: room to keep one of another's.
  void gave() noexcept { adopted_ -= adopted_ != 0 ? 1U : 0U; }

  /// Sends partly filled return batches on their way. Called when the PE is idle.
  void flush_returns() noexcept;

  /// Bytes that this pool has taken from the machine so far.
  std::size_t reserved_bytes() const noexcept { return reserved_; }

 private:
  void* take_slow(std::size_t bytes, unsigned size_class);
  void release_slow(Block* block) noexcept;
  void give_back(Block* block) noexcept;
  bool collect_returns() noexcept;
  void reclaim(Block* block, unsigned size_class) noexcept;
  void grow(unsigned size_class);

  std::array<Block*, kClasses> free_{};
  unsigned adopted_ = 0;  // blocks of others kept here, less those given away for good
  unsigned met_ = 0;      // blocks of others released here
  // Blocks of one foreign pool on their way back; flushed when full, when another pool's turn
  // comes, when idle.
  ReturnList* returning_ = nullptr;
  std::size_t idle_large_ = 0;
  std::size_t reserved_ = 0;
  std::vector<void*> slabs_;
  // Any thread pushes (release), the owner takes all (acquire).
  alignas(64) std::atomic<ReturnList*> returned_{nullptr};
};

}  // namespace shoal::comm
