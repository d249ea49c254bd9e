// SPDX-License-Identifier: Apache-2.0
// A container of the standard library whose codec was not included.
// EXPECT: is_plain_or_has_serialize
// EXPECT: std::map<
#include <shoal/shoal.hpp>
#ifdef FIXED
#include <shoal/actors/serialize/map.hpp>
#endif

#include <map>

namespace mistake {
using namespace shoal;

struct Registry : Actor<Registry, Index1> {
  void enter(std::map<int, double>) {}
};

void use(ArrayProxy<Registry> registries) {
  registries[0].send<&Registry::enter>(std::map<int, double>{{1, 2}});
}
}  // namespace mistake
