// SPDX-License-Identifier: Apache-2.0
// An actor in an unnamed namespace.
// EXPECT: is_not_in_an_unnamed_namespace
#include <shoal/shoal.hpp>

#ifdef FIXED
namespace mistake {
#else
namespace {
#endif
struct Counter : shoal::Actor<Counter, shoal::Index1> {
  void add(int) {}
};
}  // namespace

#ifdef FIXED
using namespace mistake;
#endif
void use(shoal::World& world) { world.create<Counter>(10); }
