// SPDX-License-Identifier: Apache-2.0
//
// The floor under every latency between two cores: the time in which one cache line, written by
// one, is seen by the other. It moves as a host moves virtual cores, by a factor of five on busy
// ones, so no figure should be compared with another's without it.
//
// Prints {"median": NS, "min": NS}, one way, over many short repetitions.

#include "measure.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

namespace {

struct alignas(128) Line {
  std::atomic<std::uint32_t> value{0};
};

constexpr std::uint32_t repetitions = 200, round_trips = 500;

}  // namespace

int main() {
  static Line there, back;
  std::thread partner([] {
    perf::pin_to_core(1);
    for (std::uint32_t i = 1; i <= (repetitions + 1) * round_trips; ++i) {
      while (there.value.load(std::memory_order_acquire) != i) {
      }
      back.value.store(i, std::memory_order_release);
    }
  });
  perf::pin_to_core(0);
  std::vector<double> one_way;
  std::uint32_t i = 0;
  for (std::uint32_t repetition = 0; repetition <= repetitions; ++repetition) {
    const double start = perf::now_ns();
    for (std::uint32_t k = 0; k < round_trips; ++k) {
      there.value.store(++i, std::memory_order_release);
      while (back.value.load(std::memory_order_acquire) != i) {
      }
    }
    if (repetition > 0) one_way.push_back((perf::now_ns() - start) / round_trips / 2);
  }
  partner.join();
  std::printf("{\"median\": %.1f, \"min\": %.1f}\n", perf::median(one_way),
              *std::min_element(one_way.begin(), one_way.end()));
}
