// SPDX-License-Identifier: Apache-2.0
// A call of an entry whose result is a pointer.
// EXPECT: its_result_is_serializable
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Counter : Actor<Counter, Index1> {
  int value = 0;
#ifdef FIXED
  int get() { return value; }
#else
  int* get() { return &value; }
#endif
};

void use(ArrayProxy<Counter> counters) { (void)counters[0].call<&Counter::get>(); }
}  // namespace mistake
