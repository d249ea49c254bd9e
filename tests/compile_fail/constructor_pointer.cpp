// SPDX-License-Identifier: Apache-2.0
// Elements are to be made from a pointer, which other processes cannot follow.
// EXPECT: constructor_arguments_are_serializable
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

#ifdef FIXED
using Values = std::vector<int>;
#else
using Values = int*;
#endif
struct Counter : Actor<Counter> {
  explicit Counter(Values) {}
};

void use(World& world) { world.create_on<Counter>(0, Values{}); }
}  // namespace mistake
