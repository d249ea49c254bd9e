// SPDX-License-Identifier: Apache-2.0
// The problem: a frame that is too long for an active-message header, and the bulk beside it, must
// travel as one payload. Offered: where each of them lies in it. Layout: 8 bytes with the frame's
// size (this machine's byte order; the handshake has compared builds), the frame, the bulk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace shoal::comm::detail {

struct PackedLayout {
  static constexpr std::size_t kHead = sizeof(std::uint64_t);
  std::uint64_t frame_size = 0;
  std::uint64_t bulk_size = 0;

  constexpr std::uint64_t total() const noexcept { return kHead + frame_size + bulk_size; }
  constexpr std::uint64_t frame_at() const noexcept { return kHead; }
  constexpr std::uint64_t bulk_at() const noexcept { return kHead + frame_size; }

  void write_head(std::byte* to) const noexcept { std::memcpy(to, &frame_size, kHead); }

  /// What `head`, the first bytes of `total` arrived ones, says; nothing if they cannot be such a
  /// message.
  static std::optional<PackedLayout> read(std::span<const std::byte> head,
                                          std::uint64_t total) noexcept {
    PackedLayout layout;
    if (head.size() < kHead || total < kHead) return std::nullopt;
    std::memcpy(&layout.frame_size, head.data(), kHead);
    if (layout.frame_size >= total - kHead) return std::nullopt;  // a bulk is never empty
    layout.bulk_size = total - kHead - layout.frame_size;
    return layout;
  }
};

}  // namespace shoal::comm::detail
