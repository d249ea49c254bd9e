// SPDX-License-Identifier: Apache-2.0
// The problem: a new collection and a broadcast must reach every PE, each once, crossing to each
// process once, and their arguments must not be written again for every PE. Offered: bytes that the
// PEs of a process share, and the message that carries them up to PE 0 and from there down the
// tree.
#pragma once

#include <shoal/actors/message.hpp>
#include <shoal/runtime/envelope.hpp>

#include <atomic>
#include <cstddef>
#include <span>

namespace shoal::actors {

/// Bytes that several PEs of a process read. Any thread; the last to release it frees it.
class SharedBytes {
 public:
  static SharedBytes* make(std::size_t size);
  void retain() noexcept { references_.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept;
  std::span<std::byte> bytes() noexcept { return {reinterpret_cast<std::byte*>(this + 1), size_}; }

 private:
  explicit SharedBytes(std::size_t size) noexcept : size_(size) {}
  // relaxed to add, acq_rel to subtract: the last reader sees that all others are done
  std::atomic<std::uint32_t> references_{1};
  std::size_t size_;
};

/// The element number of what goes to all PEs. No index that a program misses by a little.
inline constexpr std::uint64_t kToAll = std::uint64_t{1} << 63U;

/// To all PEs, `envelope.kind` create or broadcast; takes `arguments` over.
void spread(Pe& pe, const runtime::Envelope& envelope, SharedBytes* arguments);
/// The same to one PE.
void spread_to(Pe& pe, comm::PeId to, const runtime::Envelope& envelope, SharedBytes* arguments);
/// A frame of such a kind arrived.
void spread_arrived(Pe& pe, const runtime::Envelope& envelope,
                    std::span<const std::byte> arguments);

}  // namespace shoal::actors
