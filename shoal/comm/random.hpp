// SPDX-License-Identifier: Apache-2.0
// The problem: a run can be repeated only if every random choice comes from one seed. Offered:
// SplitMix64 (Steele, Lea and Flood 2014) to spread seeds, and xoshiro256** (Blackman and Vigna
// 2018) to draw. Secrets do not come from here: see comm/secret.hpp.
#pragma once

#include <array>
#include <cstdint>

namespace shoal::comm {

/// One step of SplitMix64: a well-mixed 64-bit value of `x`.
constexpr std::uint64_t mix(std::uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebULL;
  return x ^ (x >> 31U);
}

/// A seeded generator; one owner.
class Random {
 public:
  using result_type = std::uint64_t;
  explicit constexpr Random(std::uint64_t seed) noexcept {
    for (auto& word : state_) word = seed = mix(seed);
  }
  constexpr std::uint64_t operator()() noexcept {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }
  /// Uniform in [0, bound); bound > 0. The bias of the multiplication is below bound / 2^64.
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>((*this)()) * bound) >> 64U);
  }
  /// True with probability `p`, 0 to 1.
  constexpr bool chance(double p) noexcept {
    return static_cast<double>((*this)() >> 11U) * 0x1.0p-53 < p;
  }
  static constexpr std::uint64_t min() noexcept { return 0; }
  static constexpr std::uint64_t max() noexcept { return ~std::uint64_t{0}; }

 private:
  static constexpr std::uint64_t rotate(std::uint64_t x, unsigned by) noexcept {
    return (x << by) | (x >> (64U - by));
  }
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace shoal::comm
