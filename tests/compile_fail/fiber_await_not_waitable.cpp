// SPDX-License-Identifier: Apache-2.0
// A fiber that awaits a plain value.
// EXPECT: Waitable
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Counter : Actor<Counter, Index1> {
  int get() { return 1; }
  void ask(Fiber& fiber, ArrayProxy<Counter> counters) {
#ifdef FIXED
    fiber.await(counters[0].call<&Counter::get>());
#else
    fiber.await(counters.size());
#endif
  }
};
}  // namespace mistake
