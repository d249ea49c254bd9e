// SPDX-License-Identifier: Apache-2.0
// The problem: within a process an entry's arguments travel as objects, and the message that
// carries them must be found, run, answered, parked or packed without knowing the entry. Offered:
// the part that all messages to actors share, and what happens to those that do not reach an
// element.
#pragma once

#include <shoal/actors/element.hpp>

#include <exception>

namespace shoal::actors {

using runtime::Activity;
using runtime::Message;
using runtime::MessageType;

/// Names a call at the PE that made it: its number and that PE. 0: a send, nobody waits.
struct CallId {
  static constexpr unsigned kPeBits = 24;
  std::uint64_t value = 0;

  static CallId make(std::uint64_t serial, comm::PeId caller) noexcept {
    return {serial << kPeBits | number(caller)};
  }
  comm::PeId caller() const noexcept {
    return comm::PeId{static_cast<std::uint32_t>(value & ((1U << kPeBits) - 1))};
  }
  explicit operator bool() const noexcept { return value != 0; }
};

struct ActorMessage;

struct ActorMessageType : MessageType {
  const EntryInfo* entry;
  /// Sends what `message` carries to a PE of another process; uses the message up.
  void (*transmit)(Pe& pe, comm::PeId target, ActorMessage* message);
};

/// Where a message goes, and how.
struct Destination {
  std::uint64_t collection = 0;
  std::uint64_t element = 0;
  std::int32_t priority = 0;  ///< smaller runs sooner; 0 is first in, first out
};

/// Bits of Block::flags.
inline constexpr std::uint8_t kIsCall = 1;       ///< a CallId stands behind the arguments
inline constexpr std::uint8_t kIsAnnounced = 2;  ///< part of it is still with its sender

/// Arguments follow, and behind them a call's id: up to 8 bytes of arguments end the message's
/// first cache line, the only one that a send to another core moves.
struct ActorMessage : Message {
  ActorMessage(comm::Origin origin, const ActorMessageType& what) noexcept
      : Message(origin, what) {}
  const EntryInfo* entry() const noexcept {
    return static_cast<const ActorMessageType*>(type)->entry;
  }

  Element** slot =
      nullptr;  ///< of a dense branch of the PE that it is queued on; nullptr: look it up
  std::uint64_t collection = 0;
  std::uint64_t element = 0;
};
static_assert(sizeof(ActorMessage) == 56);

inline Activity describe_actor_message(const Message& message) noexcept {
  const auto& own = static_cast<const ActorMessage&>(message);
  return {own.entry(), own.collection, own.element};
}

/// An exception left the entry that `message` ran: to the caller, or the end of the job.
void entry_threw(Pe& pe, const ActorMessage& message, CallId call,
                 std::exception_ptr error) noexcept;

/// `message` found no element here: it goes to where the element is, or waits until there is one.
void entry_missed(Pe& pe, ActorMessage* message);

}  // namespace shoal::actors
