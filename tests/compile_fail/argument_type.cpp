// SPDX-License-Identifier: Apache-2.0
// A string for an entry that takes a number.
// EXPECT: arguments_match_the_entry
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Counter : Actor<Counter, Index1> {
  void add(int) {}
};

void use(ArrayProxy<Counter> counters) {
#ifdef FIXED
  counters[0].send<&Counter::add>(1);
#else
  counters[0].send<&Counter::add>("one");
#endif
}
}  // namespace mistake
