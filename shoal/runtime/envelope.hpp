// SPDX-License-Identifier: Apache-2.0
// The problem: a frame from another process must say what it is before anything in it is trusted.
// Offered: the 32 bytes that open every frame. Both ends are the same build on the same kind of
// machine (the handshake sees to that), so the fields travel as they lie in memory.
#pragma once

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
enum : std::uint8_t {
  kHasPriority = 1U,  ///< four bytes of priority follow the envelope
  kHasBulk = 2U,      ///< the largest argument lies in the arrival's bulk
  kIsException = 4U,  ///< of a reply: it carries an exception
};

struct Envelope {
  std::uint64_t element = 0;     ///< 64-bit element id, or the runtime's first number
  std::uint64_t collection = 0;  ///< collection id, or the runtime's second number
  std::uint64_t call = 0;    ///< the caller's future, 0 for a send, or the runtime's third number
  std::uint32_t source = 0;  ///< PE that sent it
  std::uint16_t entry = 0;   ///< entry id, dense, agreed in the handshake
  Kind kind = Kind::entry;
  std::uint8_t flags = 0;
};
static_assert(sizeof(Envelope) == 32);

/// Reads the envelope of `frame`. False: too short, or of no kind.
inline bool read_envelope(std::span<const std::byte> frame, Envelope& envelope) noexcept {
  if (frame.size() < sizeof(Envelope)) return false;
  std::memcpy(&envelope, frame.data(), sizeof(Envelope));
  return envelope.kind <= Kind::last;
}

}  // namespace shoal::runtime
