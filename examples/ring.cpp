// SPDX-License-Identifier: Apache-2.0
// Ring: a token passes N times round an array, one element per PE, and the last holder reports to
// the program.
#include <shoal/shoal.hpp>

#include <fmt/core.h>

namespace ring {
using namespace shoal;

struct Member : Actor<Member, Index1> {
  void pass(std::int64_t hops_left, std::int64_t sum) {
    sum += index()[0];
    if (hops_left == 0) {
      fmt::print("the sum of all indices met is {}\n", sum);
      return;
    }
    array()[(index()[0] + 1) % array().size()].send<&Member::pass>(hops_left - 1, sum);
  }
};

Task<> program(World& world) {
  const int rounds = world.args().size() > 1 ? std::atoi(world.args()[1].c_str()) : 100;
  if (rounds < 1) {
    fmt::print(stderr, "usage: ring [ROUNDS]    a token passes ROUNDS times round the array\n");
    co_return world.exit(2);
  }
  auto members = world.create<Member>(world.pes());
  members[0].send<&Member::pass>(rounds * members.size(), 0);
  co_await world.quiescence();
  fmt::print("{} rounds over {} PEs\n", rounds, members.size());
}
}  // namespace ring

int main(int argc, char** argv) { return shoal::run(argc, argv, ring::program); }
