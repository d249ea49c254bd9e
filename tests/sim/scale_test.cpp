// SPDX-License-Identifier: Apache-2.0
// Ten thousand PEs in one thread: what an idle one weighs, and how many messages go through.
#include <shoal/actors/simulate.hpp>
#include <shoal/comm/clock.hpp>
#include <shoal/shoal.hpp>

#include <doctest/doctest.h>

#include <malloc.h>

namespace scale {
using namespace shoal;  // NOLINT(google-build-using-namespace)

constexpr std::uint32_t kPes = 10'000;

struct Node : Actor<Node, PeIndex> {
  void pass(int left) {
    ++passed;
    const std::uint64_t next = shoal::comm::mix(pe() * 1'000'003ULL + static_cast<unsigned>(left));
    if (left != 0) group()[static_cast<std::uint32_t>(next % kPes)].send<&Node::pass>(left - 1);
  }
  static inline std::uint64_t passed = 0;
};

SimulationOptions many() {
  SimulationOptions options;
  options.network.processes = kPes;
  return options;
}

std::size_t allocated_bytes() { return ::mallinfo2().uordblks + ::mallinfo2().hblkhd; }
}  // namespace scale

using namespace scale;  // NOLINT(google-build-using-namespace)

TEST_CASE("ten thousand PEs pass messages among all") {
  Node::passed = 0;
  shoal::comm::Nanoseconds begin = 0;
  shoal::comm::Nanoseconds end = 0;
  const auto result = simulate(many(), [&](World& world) -> Task<> {
    const auto nodes = world.create_group<Node>();
    co_await world.quiescence();
    begin = shoal::comm::steady_clock().now();
    for (std::uint32_t i = 0; i < 10'000; ++i) nodes[i].send<&Node::pass>(100);
    co_await world.quiescence();
    end = shoal::comm::steady_clock().now();
  });
  CHECK(result.exit_code == 0);
  CHECK(Node::passed == 1'010'000);
  MESSAGE("messages a second at 10,000 PEs: ",
          static_cast<double>(Node::passed) * 1e9 / static_cast<double>(end - begin));
}

#ifndef SHOAL_SANITIZED
TEST_CASE("an idle PE of ten thousand holds at most 2,048 bytes, all that is its own included") {
  const std::size_t before = allocated_bytes();
  std::size_t after = 0;
  const auto result = simulate(many(), [&](World& world) -> Task<> {
    co_await world.quiescence();  // so that each PE has taken part in something
    after = allocated_bytes();
  });
  CHECK(result.exit_code == 0);
  const std::size_t each = (after - before) / kPes;
  MESSAGE("bytes an idle PE: ", each, ", of which the PE object: ", sizeof(shoal::runtime::Pe));
  CHECK(each <= 2'048);
}
#endif
