// SPDX-License-Identifier: Apache-2.0
// The problem: a scheduler must run, drop and name things whose types it does not know. Offered: a
// message, a pooled block with a pointer to one constant object per type of message, and a
// first-in-first-out queue of them. Within a process messages travel by pointer; who takes one from
// a queue owns it.
#pragma once

#include <shoal/comm/pool.hpp>

#include <cstdint>

namespace shoal::runtime {

class Pe;
struct Message;

/// What runs: an entry of an element. The layer above turns it into words.
struct Activity {
  const void* entry =
      nullptr;  ///< the layer's description of an entry; nullptr: the program itself
  std::uint64_t collection = 0;
  std::uint64_t element = 0;
};

struct MessageType {
  /// Does what the message says and gives its block back.
  void (*run)(Pe& pe, Message* message);
  /// Gives the block back, arguments destroyed, nothing run.
  void (*drop)(Pe& pe, Message* message) noexcept;
  /// What it would run, for reports; may be nullptr.
  Activity (*describe)(const Message& message) noexcept;
  /// A message of the program: counted as created where it was sent, and as processed when it has
  /// run; not run once the program has ended. False: the runtime's own, or a resumption.
  bool is_counted = true;
  /// Runs although the program has ended.
  bool outlives_program = false;
};

struct Message : comm::Block {
  explicit Message(comm::Origin origin, const MessageType& what) noexcept
      : Block(origin), type(&what) {}
  explicit Message(const MessageType& what) noexcept : type(&what) {}
  const MessageType* type;
};
static_assert(sizeof(Message) == 32);

/// First in, first out, linked through the messages themselves: no memory of its own, no limit of
/// its own.
class Fifo {
 public:
  Fifo() = default;
  Fifo(const Fifo&) = delete;
  Fifo& operator=(const Fifo&) = delete;

  void push(Message* message) noexcept {
    if (head_ == nullptr) {
      head_ = message;
    } else {
      tail_->next.store(message, std::memory_order_relaxed);
    }
    tail_ = message;
  }
  Message* pop() noexcept {
    Message* message = head_;
    if (message == tail_) {  // the last one, whose link is unset; or none
      head_ = tail_ = nullptr;
    } else {
      head_ = static_cast<Message*>(message->next.load(std::memory_order_relaxed));
    }
    return message;
  }
  bool empty() const noexcept { return head_ == nullptr; }
  /// Visits the first `most`, in order.
  template <class Visit>
  void for_first(std::size_t most, Visit&& visit) const {
    const Message* message = head_;
    for (std::size_t i = 0; i < most && message != nullptr; ++i) {
      visit(*message);
      if (message == tail_) return;
      message = static_cast<const Message*>(message->next.load(std::memory_order_relaxed));
    }
  }

 private:
  Message* head_ = nullptr;
  Message* tail_ = nullptr;
};

}  // namespace shoal::runtime
