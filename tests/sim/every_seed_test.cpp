// SPDX-License-Identifier: Apache-2.0
#include "mixture.hpp"

#include <doctest/doctest.h>

TEST_CASE("the mixture gives the sequential result under 2,000 seeds") {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    INFO("seed ", seed, "; repeat it with: ", mixture::command_for(seed));
    CHECK(mixture::trouble_with(seed) == "");
  }
}
