// SPDX-License-Identifier: Apache-2.0
// A member that the actor does not have.
// EXPECT: 'greet' is not a member of 'mistake::Counter'
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
  counters[0].send<&Counter::greet>(1);
#endif
}
}  // namespace mistake
