// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the two sides of `entry_cost` share, so that they do the same work: how many messages are on
// their way at once, the run of a stated length that an instruction counter is put around, and a
// meter of the time or the allocations of a stretch.

#include "measure.hpp"

namespace perf {

// Messages on their way at once, and elements in the ring that they go round. Each element is
// visited messages/tokens times.
inline constexpr long tokens = 64;

// N of `--messages N`, or -1. A program told so runs N messages and ends, with no repetition and no
// clock: the driver takes the difference of two lengths under callgrind.
long messages_asked_for(int argc, char** argv);

// Calls of malloc, calloc, realloc, aligned allocation and operator new in this process until now,
// by all threads. tokens.cpp puts itself in the C library's place to count them.
std::uint64_t allocations();

// Counts from its construction.
class Meter {
 public:
  Meter() : allocations_(allocations()), start_(now_ns()) {}
  // Nanoseconds or allocations a message, as run.metric says.
  double per_message(const Run& run) const {
    const double ns = now_ns() - start_;
    const auto made = static_cast<double>(allocations() - allocations_);
    return (run.metric == "allocations" ? made : ns) / static_cast<double>(run.iterations);
  }

 private:
  std::uint64_t allocations_;
  double start_;
};

}  // namespace perf
