// SPDX-License-Identifier: Apache-2.0
// The problem: code that reads the machine's clock cannot be simulated. Offered: a clock as an
// interface, the steady one of the machine and one that a simulator sets.
#pragma once

#include <cstdint>

namespace shoal::comm {

/// Nanoseconds since some fixed moment; never goes back.
using Nanoseconds = std::uint64_t;

inline constexpr Nanoseconds kMicrosecond = 1'000;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kSecond = 1'000'000'000;

/// Any thread.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Nanoseconds now() const noexcept = 0;
  /// Some milliseconds behind at most, for a fifth of the price: for ages in reports.
  virtual Nanoseconds recent() const noexcept { return now(); }
};

/// The machine's steady clock; a read costs about 25 ns.
const Clock& steady_clock() noexcept;

/// Time that stands still until it is set. One thread.
class VirtualClock final : public Clock {
 public:
  Nanoseconds now() const noexcept override { return now_; }
  void set(Nanoseconds now) noexcept { now_ = now; }

 private:
  Nanoseconds now_ = 0;
};

}  // namespace shoal::comm
