// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/error.hpp>
#include <shoal/comm/simulated/delays.hpp>

#include <algorithm>
#include <bit>

namespace shoal::comm {

namespace {
constexpr unsigned kFraction = 20;
constexpr std::uint64_t kOne = std::uint64_t{1} << kFraction;
constexpr Nanoseconds kLongest = Nanoseconds{1} << 56U;  // two years; reordered ones fit as well

/// `hash`, uniform over 64 bits, brought to [0, bound).
std::uint64_t scale(std::uint64_t hash, std::uint64_t bound) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(hash) * bound) >> 64U);
}
}  // namespace

std::uint64_t to_octaves(std::uint64_t x) noexcept {
  const auto octave = static_cast<unsigned>(std::bit_width(x)) - 1;
  const std::uint64_t rest = x - (std::uint64_t{1} << octave);
  const std::uint64_t fraction =
      octave > kFraction ? rest >> (octave - kFraction) : rest << (kFraction - octave);
  return (std::uint64_t{octave} << kFraction) | fraction;
}

std::uint64_t from_octaves(std::uint64_t octaves) noexcept {
  const auto octave = static_cast<unsigned>(octaves >> kFraction);
  const std::uint64_t mantissa = kOne | (octaves & (kOne - 1));
  return octave > kFraction ? mantissa << (octave - kFraction) : mantissa >> (kFraction - octave);
}

LinkDelays::LinkDelays(const Options& options) : options_(options) {
  SHOAL_CHECK(options.min_delay > 0 && options.min_delay <= options.max_delay &&
                  options.max_delay <= kLongest,
              "delays from {} to {} ns", options.min_delay, options.max_delay);
  low_ = to_octaves(options.min_delay);
  high_ = to_octaves(options.max_delay);
  far_ = to_octaves(options.max_delay * kReorderReach);
}

Nanoseconds LinkDelays::draw(ProcessId from, ProcessId to, Random& random) const noexcept {
  if (options_.reorder > 0 && random.chance(options_.reorder)) {
    const Nanoseconds delay = from_octaves(high_ + random.below(far_ - high_ + 1));
    return std::max(delay, options_.max_delay);
  }
  const std::uint64_t spread = high_ - low_;
  if (spread == 0) return options_.min_delay;
  const std::uint64_t link = (std::uint64_t{number(from)} << 32U) | number(to);
  const std::uint64_t place = scale(mix(options_.seed ^ mix(link)), spread / 2 + 1);
  const std::uint64_t octaves = low_ + place + random.below(spread - spread / 2 + 1);
  return std::clamp(from_octaves(octaves), options_.min_delay, options_.max_delay);
}

}  // namespace shoal::comm
