// SPDX-License-Identifier: Apache-2.0
// A call of an entry that returns nothing: send it, or let it return a Task<>.
// EXPECT: returns_a_result
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Counter : Actor<Counter, Index1> {
#ifdef FIXED
  Task<> add(int) { co_return; }
#else
  void add(int) {}
#endif
};

void use(ArrayProxy<Counter> counters) { (void)counters[0].call<&Counter::add>(1); }
}  // namespace mistake
