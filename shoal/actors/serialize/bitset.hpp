// SPDX-License-Identifier: Apache-2.0
// The codec of std::bitset: eight bits to a byte, the first in the lowest bit.
#pragma once

#include <shoal/actors/serialize/core.hpp>

#include <bitset>

namespace shoal::actors {

template <std::size_t N>
struct Codec<std::bitset<N>> {
  static constexpr bool kSupported = true;
  static constexpr std::size_t kFixedSize = (N + 7) / 8;

  template <class Ar>
  static void run(Ar& ar, std::bitset<N>& value) {
    std::array<std::uint8_t, kFixedSize> bytes{};
    if constexpr (!Ar::kReads) {
      for (std::size_t i = 0; i < N; ++i) {
        if (value[i]) bytes[i / 8] = static_cast<std::uint8_t>(bytes[i / 8] | (1U << (i % 8)));
      }
    }
    ar(bytes);
    if constexpr (Ar::kReads) {
      for (std::size_t i = 0; i < N; ++i) value[i] = ((bytes[i / 8] >> (i % 8)) & 1U) != 0;
    }
  }
};

}  // namespace shoal::actors
