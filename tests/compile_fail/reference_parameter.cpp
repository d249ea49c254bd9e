// SPDX-License-Identifier: Apache-2.0
// An entry that wants to write to the caller's object.
// EXPECT: takes_values_or_const_references
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Counter : Actor<Counter, Index1> {
#ifdef FIXED
  void add(const int&) {}
#else
  void add(int&) {}
#endif
};

void use(ArrayProxy<Counter> counters, int value) { counters[0].send<&Counter::add>(value); }
}  // namespace mistake
