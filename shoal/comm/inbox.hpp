// SPDX-License-Identifier: Apache-2.0
// The problem: any thread hands blocks to one PE, and the PE, when it has nothing to do, sleeps
// without missing one. Offered: an intrusive queue of many producers and one consumer (D. Vyukov's
// list with a stub: one exchange a push, nothing allocated, no state per producer) and the sleeping
// flag that goes with it.
//
// An intrusive list rather than moodycamel's queue: measured one way between two cores it takes 235
// ns against 429, and 10,000 PEs need no tokens; the price is streams from many producers (30
// against 12 ns).
//
// Limit: none here; what a sender may have under way is bounded by its pool.
#pragma once

#include <shoal/comm/pool.hpp>

#include <atomic>

namespace shoal::comm {

/// `push` and `must_wake`: any thread. The rest: the PE that owns the inbox.
class Inbox {
 public:
  Inbox() noexcept : head_(&stub_), tail_(&stub_) {
    stub_.next.store(nullptr, std::memory_order_relaxed);
  }
  Inbox(const Inbox&) = delete;
  Inbox& operator=(const Inbox&) = delete;

  /// Hands `block` over. True: the consumer sleeps, and this caller must wake it (once).
  bool push(Block* block) noexcept {
    link(block);
    // seq_cst here and in prepare_sleep: either this load sees the flag, or the sleeper's check
    // sees the block.
    if (!asleep_.load(std::memory_order_seq_cst)) [[likely]]
      return false;
    return asleep_.exchange(false, std::memory_order_acq_rel);
  }

  /// A push will follow soon, or may: fetches its cache line. Any thread.
  void prefetch_push() const noexcept { __builtin_prefetch(&head_, 1); }

  /// The oldest block, or nullptr; a block whose producer is between its two stores counts as not
  /// there yet.
  Block* pop() noexcept {
    Block* tail = tail_;
    Block* next = tail->next.load(std::memory_order_acquire);  // pairs with release in link()
    if (tail == &stub_) {
      if (next == nullptr) return nullptr;
      tail_ = tail = next;
      next = tail->next.load(std::memory_order_acquire);
    }
    if (next != nullptr) {
      tail_ = next;
      return tail;
    }
    if (tail != head_.load(std::memory_order_acquire)) return nullptr;
    link(&stub_);
    next = tail->next.load(std::memory_order_acquire);
    if (next == nullptr) return nullptr;
    tail_ = next;
    return tail;
  }

  bool empty() const noexcept {
    return tail_ == &stub_ && stub_.next.load(std::memory_order_relaxed) == nullptr;
  }

  /// Announces sleep. False: a block came meanwhile, do not sleep.
  bool prepare_sleep() noexcept {
    asleep_.store(true, std::memory_order_seq_cst);
    if (tail_ == &stub_ && head_.load(std::memory_order_seq_cst) == &stub_) return true;
    awake();
    return false;
  }
  void awake() noexcept { asleep_.store(false, std::memory_order_relaxed); }

  /// For a wake-up without a block: true if the consumer slept and this caller must wake it.
  bool must_wake() noexcept { return asleep_.exchange(false, std::memory_order_seq_cst); }

 private:
  void link(Block* block) noexcept {
    block->next.store(nullptr, std::memory_order_relaxed);
    Block* before = head_.exchange(block, std::memory_order_seq_cst);
    before->next.store(block, std::memory_order_release);  // pairs with acquire in pop()
  }

  // 128: cores fetch lines in pairs, and both of these are shared anyway.
  alignas(128) std::atomic<Block*> head_;  // producers
  std::atomic<bool> asleep_{false};        // read after every push: beside head_ on purpose
  alignas(64) Block* tail_;                // consumer
  Block stub_;
};

}  // namespace shoal::comm
