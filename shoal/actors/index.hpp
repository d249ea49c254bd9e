// SPDX-License-Identifier: Apache-2.0
// The problem: users name elements by coordinates, the runtime by one 64-bit number. Offered: an
// index type, and how it maps to element ids. Arrays of more dimensions add their index types here.
#pragma once

#include <array>
#include <cstdint>

namespace shoal::actors {

/// The index of a one-dimensional array, and its extent. Counts from 0.
struct Index1 {
  std::array<std::int64_t, 1> at{};

  constexpr Index1() = default;
  constexpr Index1(std::int64_t i) noexcept : at{i} {}  // NOLINT: `array[3]` is the point
  constexpr std::int64_t operator[](std::size_t dimension) const noexcept { return at[dimension]; }
  friend constexpr bool operator==(const Index1&, const Index1&) = default;
  void serialize(auto& ar) { ar(at[0]); }
};

/// The index of a group: a PE.
struct PeIndex {
  std::uint32_t pe = 0;
};

/// For actors that are created one by one: they have no index.
struct NoIndex {};

constexpr std::uint64_t element_id(Index1 index) noexcept {
  return static_cast<std::uint64_t>(index[0]);
}
constexpr Index1 index_of(std::uint64_t element, Index1) noexcept {
  return Index1{static_cast<std::int64_t>(element)};
}

}  // namespace shoal::actors
