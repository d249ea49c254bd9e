// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/random.hpp>

#include <doctest/doctest.h>

#include <array>
#include <set>

using shoal::comm::mix;
using shoal::comm::Random;

TEST_CASE("equal seeds give equal numbers and different seeds different ones") {
  Random one(7);
  Random same(7);
  Random other(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t value = one();
    CHECK(value == same());
    differs = differs || value != other();
  }
  CHECK(differs);
}

TEST_CASE("mix follows the reference values of SplitMix64") {
  // The first outputs of the reference implementation (Vigna) for the seed 0.
  CHECK(mix(0) == 0xe220a8397b1dcdafULL);
  CHECK(mix(0x9e3779b97f4a7c15ULL) == 0x6e789e6aa1b965f4ULL);
}

TEST_CASE("below stays below, reaches every value and favours none") {
  Random random(1);
  std::array<int, 6> counts{};
  for (int i = 0; i < 60'000; ++i) {
    const std::uint64_t value = random.below(6);
    REQUIRE(value < 6);
    ++counts[value];
  }
  for (int count : counts) {
    CHECK(count > 9'500);
    CHECK(count < 10'500);
  }
  CHECK(random.below(1) == 0);
}

TEST_CASE("chance is never true at 0, always at 1, and half the time at one half") {
  Random random(2);
  int hits = 0;
  for (int i = 0; i < 10'000; ++i) {
    REQUIRE_FALSE(random.chance(0.0));
    REQUIRE(random.chance(1.0));
    hits += random.chance(0.5) ? 1 : 0;
  }
  CHECK(hits > 4'800);
  CHECK(hits < 5'200);
}
