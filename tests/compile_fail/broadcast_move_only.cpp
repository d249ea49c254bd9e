// SPDX-License-Identifier: Apache-2.0
// An argument that cannot be copied, for all elements.
// EXPECT: can_be_broadcast
#include <shoal/shoal.hpp>

#include <shoal/actors/serialize/memory.hpp>

namespace mistake {
using namespace shoal;

struct Keeper : Actor<Keeper, Index1> {
#ifdef FIXED
  void keep(std::shared_ptr<int>) {}
#else
  void keep(std::unique_ptr<int>) {}
#endif
};

void use(ArrayProxy<Keeper> keepers) { keepers.broadcast<&Keeper::keep>(nullptr); }
}  // namespace mistake
