// SPDX-License-Identifier: Apache-2.0
// Elements are to be made from what their constructor does not take.
// EXPECT: is_an_actor_constructible_from
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Counter : Actor<Counter, Index1> {
  explicit Counter(int start) : value(start) {}
  int value;
};

void use(World& world) {
#ifdef FIXED
  world.create<Counter>(10, 1);
#else
  world.create<Counter>(10, std::string("one"));
#endif
}
}  // namespace mistake
