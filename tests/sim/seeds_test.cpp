// SPDX-License-Identifier: Apache-2.0
// A fiftieth of the 2,000 seeds, by SHOAL_SEED_SLICE (0 to 49), those that failed once, and one of
// choice by SHOAL_SEED. All of them: every_seed_test.cpp.
#include "mixture.hpp"

#include <shoal/comm/random.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

namespace {

std::uint64_t variable(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

void check(std::uint64_t seed) {
  INFO("seed ", seed, "; repeat it with: ", mixture::command_for(seed));
  CHECK(mixture::trouble_with(seed) == "");
}

}  // namespace

TEST_CASE("the mixture gives the sequential result under this slice's seeds") {
  const std::uint64_t slice = variable("SHOAL_SEED_SLICE", 0);
  MESSAGE("seeds ", slice, " + 50 n, SHOAL_SEED_SLICE=", slice);
  for (std::uint64_t seed = slice; seed < 2'000; seed += 50) check(seed);
}

TEST_CASE("the mixture gives the sequential result under the seeds that failed once") {
  std::ifstream file(SHOAL_KEPT_SEEDS);
  REQUIRE(file);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::uint64_t seed = 0;
    REQUIRE(bool(std::istringstream(line) >> seed));
    check(seed);
  }
}

TEST_CASE("the seed of SHOAL_SEED gives the sequential result") {
  check(variable("SHOAL_SEED", 1));
}

TEST_CASE("SIM-01 one seed gives one run") {
  for (const std::uint64_t seed : {3ULL, 53ULL, 103ULL, 153ULL}) {
    mixture::Plan plan;
    plan.seed = seed;
    const auto first = mixture::run(plan, mixture::options_of(seed)).result;
    const auto second = mixture::run(plan, mixture::options_of(seed)).result;
    CHECK(first.event_hash == second.event_hash);
    CHECK(first.events == second.events);
    CHECK(first.time == second.time);
  }
}

TEST_CASE("another seed gives another run of the same plan") {
  const mixture::Plan plan;
  auto options = mixture::options_of(150);
  const auto first = mixture::run(plan, options).result;
  options.network.seed = 151;
  CHECK(first.event_hash != mixture::run(plan, options).result.event_hash);
}

TEST_CASE("the loss of a process at any time ends the mixture with code 4, or comes too late") {
  const std::uint64_t slice = variable("SHOAL_SEED_SLICE", 0);
  unsigned lost = 0;
  for (std::uint64_t seed = slice; seed < 5'000; seed += 50) {
    CAPTURE(seed);
    shoal::comm::Random random(seed);
    auto options = mixture::options_of(100 + seed % 2 * 50);
    options.network.seed = seed;
    const auto victim = static_cast<std::uint32_t>(random.below(options.network.processes));
    options.network.losses = {{shoal::comm::ProcessId{victim}, random.below(3'000'000)}};
    mixture::Plan plan;
    plan.seed = seed;
    const auto result = mixture::run(plan, options).result;
    if (result.exit_code == 0) continue;
    ++lost;
    REQUIRE(result.exit_code == 4);
    REQUIRE(result.said.size() == 1);
    REQUIRE(result.said[0] == "process " + std::to_string(victim) + " is lost");
  }
  CHECK(lost > 50);
}
