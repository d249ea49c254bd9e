// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/error.hpp>
#include <shoal/comm/pool.hpp>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <span>
#include <utility>

namespace shoal::comm {

namespace {
constexpr std::size_t kAlignment = 128;
constexpr std::uintptr_t kClassBits = kAlignment - 1;  // free in a block's address
constexpr std::size_t kFirstSlabBytes = 256;
constexpr std::size_t kSlabBytes = std::size_t{16} << 10U;
constexpr unsigned kMetPerLook = 16;  // blocks of others between two looks at what came back

constexpr std::size_t kPage = 4096;

void* allocate(std::size_t bytes, std::size_t alignment = kAlignment) {
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, rounded);
  SHOAL_CHECK(memory != nullptr, "no memory for a message of {} bytes", bytes);
  return memory;
}
void* allocate_large(std::size_t bytes) {
  return static_cast<std::byte*>(allocate(bytes + kPage, kPage)) + (kPage - Pool::kLead);
}
void free_large(Block* block) noexcept {
  std::free(reinterpret_cast<std::byte*>(block) - (kPage - Pool::kLead));
}

Block* make_block(void* memory, Pool* owner, unsigned size_class) {
  return ::new (memory) Block(Origin{owner, static_cast<std::uint8_t>(size_class)});
}
}  // namespace

// Small blocks are not visited: one that came from another pool lies in a slab that may be gone.
Pool::~Pool() {
  for (unsigned c = kFirstLarge; c < kClasses; ++c) {
    while (Block* block = free_[c]) {
      free_[c] = block->next.load(std::memory_order_relaxed);
      free_large(block);
    }
  }
  for (void* slab : slabs_) std::free(slab);
}

std::size_t Pool::capacity(const Block& block) noexcept {
  if (block.size_class == kUnpooled) return SIZE_MAX;
  return (kSmallest << block.size_class) + (block.size_class >= kFirstLarge ? kLead : 0);
}

void* Pool::take_slow(std::size_t bytes, unsigned size_class) {
  if (size_class >= kClasses) {
    return make_block(allocate_large(bytes), this, kUnpooled);
  }
  if (collect_returns() && free_[size_class] != nullptr) return take(bytes);
  if (size_class >= kFirstLarge) {
    reserved_ += kSmallest << size_class;
    return make_block(allocate_large(kSmallest << size_class), this, size_class);
  }
  grow(size_class);
  return take(bytes);
}

void Pool::grow(unsigned size_class) {
  const std::size_t size = kSmallest << size_class;
  // Slabs double from a small first one: ten thousand simulated PEs share a machine.
  const std::size_t doubled = slabs_.size() < 7 ? kFirstSlabBytes << slabs_.size() : kSlabBytes;
  const std::size_t slab = std::max(size, std::min(doubled, kSlabBytes));
  auto* memory = static_cast<std::byte*>(allocate(slab));
  slabs_.push_back(memory);
  reserved_ += slab;
  for (std::size_t at = 0; at + size <= slab; at += size) {
    Block* block = make_block(memory + at, this, size_class);
    block->next.store(free_[size_class], std::memory_order_relaxed);
    free_[size_class] = block;
  }
}

void Pool::release_slow(Block* block) noexcept {
  if (block->size_class == kUnpooled) {
    return free_large(block);
  }
  if (block->owner != this) {
    // A PE that keeps blocks of others never runs out of its own: it must not wait for that to
    // count those that come back.
    if (++met_ % kMetPerLook == 0) collect_returns();
    if (adopted_ >= kMostAdopted) {
      if (block->size_class < kFirstLarge) return give_back(block);
      return free_large(block);
    }
    ++adopted_;
    block->owner = this;
  }
  if (block->size_class >= kFirstLarge) {
    const std::size_t size = kSmallest << block->size_class;
    if (idle_large_ + size > kIdleLargeBytes) {
      return free_large(block);
    }
    idle_large_ += size;
  }
  block->next.store(free_[block->size_class], std::memory_order_relaxed);
  free_[block->size_class] = block;
}

void Pool::give_back(Block* block) noexcept {
  if (returning_ != nullptr && returning_->owner != block->owner) flush_returns();
  if (returning_ == nullptr) {
    returning_ = ::new (block) ReturnList(Origin{block->owner, block->size_class});
    return;
  }
  returning_->blocks[returning_->tag++] = reinterpret_cast<std::byte*>(block) + block->size_class;
  if (returning_->tag == ReturnList::kReturnBatch) flush_returns();
}

void Pool::flush_returns() noexcept {
  if (returning_ == nullptr) return;
  ReturnList* list = std::exchange(returning_, nullptr);
  auto& stack = list->owner->returned_;
  ReturnList* top = stack.load(std::memory_order_relaxed);
  do {
    list->next.store(top, std::memory_order_relaxed);
    // release pairs with the acquire in collect_returns
  } while (!stack.compare_exchange_weak(top, list, std::memory_order_release,
                                        std::memory_order_relaxed));
}

bool Pool::collect_returns() noexcept {
  if (returned_.load(std::memory_order_relaxed) == nullptr) return false;
  ReturnList* list = returned_.exchange(nullptr, std::memory_order_acquire);
  while (list != nullptr) {
    auto* next = static_cast<ReturnList*>(list->next.load(std::memory_order_relaxed));
    const std::span returned(list->blocks.data(), list->tag);
    for (const std::byte* word : returned) __builtin_prefetch(word, 1);
    // The last first: they go out again in the order in which they went out before, which the
    // prefetcher of the core that takes them can follow.
    for (std::size_t i = returned.size(); i-- > 0;) {
      const std::uintptr_t size_class = reinterpret_cast<std::uintptr_t>(returned[i]) & kClassBits;
      reclaim(reinterpret_cast<Block*>(returned[i] - size_class),
              static_cast<unsigned>(size_class));
    }
    reclaim(list, list->size_class);
    list = next;
  }
  return true;
}

void Pool::reclaim(Block* block, unsigned size_class) noexcept {
  block->next.store(free_[size_class], std::memory_order_relaxed);
  free_[size_class] = block;
  ++adopted_;  // it had been given away, which made room for another's
}

}  // namespace shoal::comm
