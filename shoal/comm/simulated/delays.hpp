// SPDX-License-Identifier: Apache-2.0
//
// Delays on real networks spread over orders of magnitude, and links differ. Offered: log-uniform
// draws by integer arithmetic alone, so that every compiler draws the same, and links that each
// have a band of their own, computed from the seed and held nowhere.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/comm/ids.hpp>
#include <shoal/comm/random.hpp>

#include <cstdint>

namespace shoal::comm {

/// log2(x) in units of 2^-20, exact at powers of two and linear between them; x > 0, not above
/// 2^62.
std::uint64_t to_octaves(std::uint64_t x) noexcept;
/// The inverse, rounded down.
std::uint64_t from_octaves(std::uint64_t octaves) noexcept;

class LinkDelays {
 public:
  /// How far a reordered frame may fall behind, in units of the longest ordinary delay.
  static constexpr Nanoseconds kReorderReach = 10;

  struct Options {
    std::uint64_t seed;
    Nanoseconds min_delay;  ///< above 0
    Nanoseconds max_delay;  ///< not below min_delay
    double reorder;         ///< chance of a draw from max_delay to kReorderReach * max_delay
  };
  explicit LinkDelays(const Options& options);

  /// A delay from `from` to `to`: log-uniform over the link's band, half as wide (in octaves) as
  /// the whole range.
  Nanoseconds draw(ProcessId from, ProcessId to, Random& random) const noexcept;

 private:
  Options options_;
  std::uint64_t low_;   // octaves of min_delay
  std::uint64_t high_;  // octaves of max_delay
  std::uint64_t far_;   // octaves of the longest reordered delay
};

}  // namespace shoal::comm
