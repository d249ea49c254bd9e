// SPDX-License-Identifier: Apache-2.0
// The problem: a frame from another process must say what it is before anything in it is trusted,
// and the first cache line of a transport's slot, the only one that costs no second transfer
// between cores, has room for some 28 bytes. Offered: the envelope that opens every frame, written
// as short as its numbers allow: 16 bytes for a send to an element of an array. Both ends are the
// same build on the same kind of machine (the handshake sees to that), so fields travel as they lie
// in memory.
//
// The format: source (4 bytes), entry (2), kind (1), flags and form (1); element and collection, of
// 4 bytes each, or of 8 (kWide); if there is one, the call (8); if it is not 0, the priority (4).
#pragma once

#include <shoal/comm/frame.hpp>
#include <shoal/comm/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace shoal::runtime {

enum class Kind : std::uint8_t {
  // The runtime's own: three numbers, no arguments, not counted as messages.
  probe,         ///< quiescence: a wave goes down the tree of PEs
  contribution,  ///< quiescence: counters come up
  watch,         ///< quiescence: a PE asks the root to tell when it is there
  quiet,         ///< quiescence: the root tells
  exit,          ///< the program ends
  report,        ///< print who waits for what
  // The layer above.
  entry,      ///< one entry method of one element
  reply,      ///< the result of a call, or its exception
  create,     ///< this PE's part of a new collection
  broadcast,  ///< one entry method of all elements
  last = broadcast,
};

/// Bits of Envelope::flags.
inline constexpr std::uint8_t kIsException = 1;  ///< of a reply: it carries an exception
inline constexpr std::uint8_t kAllFlags = kIsException;

struct Envelope {
  std::uint64_t element = 0;     ///< 64-bit element id, or the runtime's first number
  std::uint64_t collection = 0;  ///< collection id, or the runtime's second number
  std::uint64_t call = 0;    ///< the caller's future, 0 for a send, or the runtime's third number
  std::uint32_t source = 0;  ///< PE that sent it
  std::int32_t priority = 0;
  std::uint16_t entry = 0;  ///< entry id, dense, agreed in the handshake
  Kind kind = Kind::entry;
  std::uint8_t flags = 0;
};

namespace detail {
// Beside the flags: in which form the envelope travels.
inline constexpr unsigned kWide = 0x20;
inline constexpr unsigned kHasCall = 0x40;
inline constexpr unsigned kHasPriority = 0x80;

inline unsigned form_of(const Envelope& envelope) noexcept {
  return (((envelope.element | envelope.collection) >> 32U) != 0 ? kWide : 0U) |
         (envelope.call != 0 ? kHasCall : 0U) | (envelope.priority != 0 ? kHasPriority : 0U);
}
inline std::size_t size_of(unsigned form) noexcept {
  return 16U + ((form & kWide) != 0 ? 8U : 0U) + ((form & kHasCall) != 0 ? 8U : 0U) +
         ((form & kHasPriority) != 0 ? 4U : 0U);
}
template <class T>
std::byte* put(std::byte* at, T value) noexcept {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}
template <class T>
const std::byte* take(const std::byte* at, T& value) noexcept {
  std::memcpy(&value, at, sizeof value);
  return at + sizeof value;
}
}  // namespace detail

/// Bytes that write_envelope will write.
inline std::size_t written_size(const Envelope& envelope) noexcept {
  return detail::size_of(detail::form_of(envelope));
}

/// Returns the end of what it wrote. In few and whole words: whoever copies the frame next would
/// wait for each piece of one.
inline std::byte* write_envelope(std::byte* at, const Envelope& envelope) noexcept {
  const unsigned form = detail::form_of(envelope);
  at = detail::put(at, envelope.source | std::uint64_t{envelope.entry} << 32U |
                           std::uint64_t{static_cast<std::uint8_t>(envelope.kind)} << 48U |
                           std::uint64_t{envelope.flags | form} << 56U);
  if ((form & detail::kWide) == 0) {
    at = detail::put(at, envelope.element | envelope.collection << 32U);
  } else {
    at = detail::put(detail::put(at, envelope.element), envelope.collection);
  }
  if ((form & detail::kHasCall) != 0) at = detail::put(at, envelope.call);
  if ((form & detail::kHasPriority) != 0) at = detail::put(at, envelope.priority);
  return at;
}

/// Reads the envelope of `frame` and returns its size in bytes; 0: the frame is too short, or of no
/// kind.
inline std::size_t read_envelope(std::span<const std::byte> frame, Envelope& envelope) noexcept {
  if (frame.size() < sizeof(std::uint64_t)) return 0;
  std::uint64_t head = 0;
  const std::byte* at = detail::take(frame.data(), head);
  const auto form = static_cast<unsigned>(head >> 56U);
  const std::size_t size = detail::size_of(form);
  if (frame.size() < size) return 0;
  envelope.source = static_cast<std::uint32_t>(head);
  envelope.entry = static_cast<std::uint16_t>(head >> 32U);
  envelope.kind = static_cast<Kind>(static_cast<std::uint8_t>(head >> 48U));
  envelope.flags = static_cast<std::uint8_t>(form & kAllFlags);
  at = detail::take(at, envelope.element);
  if ((form & detail::kWide) != 0) {
    at = detail::take(at, envelope.collection);
  } else {
    envelope.collection = envelope.element >> 32U;
    envelope.element = static_cast<std::uint32_t>(envelope.element);
  }
  if ((form & detail::kHasCall) != 0) at = detail::take(at, envelope.call);
  if ((form & detail::kHasPriority) != 0) detail::take(at, envelope.priority);
  return envelope.kind <= Kind::last ? size : 0;
}

/// A frame that opens with an envelope, and where what follows it begins.
struct OpenedFrame {
  comm::Frame* frame;
  std::byte* rest;
};
/// With room for `size` bytes behind the envelope.
inline OpenedFrame open_frame(comm::Pool& pool, const Envelope& envelope, std::size_t size) {
  comm::Frame* frame = comm::take_frame(pool, written_size(envelope) + size);
  return {frame, write_envelope(frame->data(), envelope)};
}

}  // namespace shoal::runtime
