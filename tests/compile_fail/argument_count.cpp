// SPDX-License-Identifier: Apache-2.0
// Two arguments for an entry that takes one.
// EXPECT: right_number_of_arguments
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
  counters[0].send<&Counter::add>(1, 2);
#endif
}
}  // namespace mistake
