// SPDX-License-Identifier: Apache-2.0
// A struct whose serialize names a pointer.
// EXPECT: owns_its_data
#include <shoal/shoal.hpp>

namespace mistake {
using namespace shoal;

struct Node {
  int value = 0;
#ifdef FIXED
  std::vector<Node> next;
#else
  Node* next = nullptr;
#endif
  void serialize(auto& ar) { ar(value, next); }
};

struct Keeper : Actor<Keeper, Index1> {
  void keep(Node) {}
};

void use(ArrayProxy<Keeper> keepers) { keepers[0].send<&Keeper::keep>(Node{}); }
}  // namespace mistake
