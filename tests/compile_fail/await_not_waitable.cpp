// SPDX-License-Identifier: Apache-2.0
// A task that awaits a plain value.
// EXPECT: Waitable
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Counter : Actor<Counter, Index1> {
  int get() { return 1; }
};

Task<> use(ArrayProxy<Counter> counters) {
#ifdef FIXED
  co_await counters[0].call<&Counter::get>();
#else
  co_await counters.size();
#endif
}
}  // namespace mistake
