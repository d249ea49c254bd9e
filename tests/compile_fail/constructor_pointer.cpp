// SPDX-License-Identifier: Apache-2.0
// Elements are to be made from a pointer, which other processes cannot follow.
// EXPECT: constructor_arguments_are_serializable
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

#ifdef FIXED
using Name = std::string;
#else
using Name = const char*;
#endif
struct Counter : Actor<Counter> {
  explicit Counter(Name) {}
};

void use(World& world) { world.create_on<Counter>(0, Name("first")); }
}  // namespace mistake
