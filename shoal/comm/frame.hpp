// SPDX-License-Identifier: Apache-2.0
// The problem: bytes on their way to another process need one owner at every moment. Offered: a
// frame, a pooled block with a length and its bytes behind it. Who holds the pointer owns it;
// `Pool::release` ends it.
#pragma once

#include <shoal/comm/pool.hpp>

#include <cstddef>
#include <span>

namespace shoal::comm {

struct alignas(Pool::kLead) Frame : Block {
  explicit Frame(Origin origin, std::size_t bytes) noexcept : Block(origin), size(bytes) {}
  std::size_t size;  ///< bytes in use behind the header

  /// Aligned to 64; the start of a page if it is large.
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  std::span<std::byte> bytes() noexcept { return {data(), size}; }
};
static_assert(sizeof(Frame) == Pool::kLead);

/// A frame with room for `size` bytes from `pool`, which is the calling PE's.
inline Frame* take_frame(Pool& pool, std::size_t size) {
  return pool.make<Frame>(sizeof(Frame) + size, size);
}

}  // namespace shoal::comm
