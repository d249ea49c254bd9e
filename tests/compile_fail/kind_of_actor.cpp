// SPDX-License-Identifier: Apache-2.0
// An array of a class that has no index.
// EXPECT: an array's T is an Actor<T, Index1>
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

#ifdef FIXED
struct Counter : Actor<Counter, Index1> {};
#else
struct Counter : Actor<Counter> {};
#endif

void use(World& world) { world.create<Counter>(10); }
}  // namespace mistake
