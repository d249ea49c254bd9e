// SPDX-License-Identifier: Apache-2.0
// An entry that only the actor itself may name.
// EXPECT: is private within this context
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

class Counter : public Actor<Counter, Index1> {
#ifdef FIXED
 public:
#endif
  void add(int) {}
};

void use(ArrayProxy<Counter> counters) { counters[0].send<&Counter::add>(1); }
}  // namespace mistake
