// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/clock.hpp>

#include <time.h>

#include <chrono>

namespace shoal::comm {

namespace {
class SteadyClock final : public Clock {
 public:
  Nanoseconds now() const noexcept override {
    return static_cast<Nanoseconds>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::steady_clock::now().time_since_epoch())
                                        .count());
  }
  Nanoseconds recent() const noexcept override {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
    return static_cast<Nanoseconds>(time.tv_sec) * kSecond + static_cast<Nanoseconds>(time.tv_nsec);
  }
};
}  // namespace

const Clock& steady_clock() noexcept {
  static const SteadyClock clock;
  return clock;
}

}  // namespace shoal::comm
