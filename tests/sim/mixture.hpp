// SPDX-License-Identifier: Apache-2.0
// The problem: bugs of message order hide in programs that do many things at once. Offered: a small
// program that mixes sends, calls, tasks, fibers, broadcasts, creation, timers, exceptions and
// large arrays, drawn from a seed, and what its result must be, computed without any runtime.
#pragma once

#include <shoal/actors/simulate.hpp>
#include <shoal/shoal.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace mixture {

struct Plan {
  std::uint64_t seed = 1;
  std::int64_t workers = 8;
  int steps = 12;
  void serialize(auto& ar) { ar(seed, workers, steps); }
};

/// What each worker's total must be in the end.
std::vector<std::uint64_t> expected_totals(const Plan& plan);

/// The program, on whatever runs it; puts each worker's total into `totals`.
shoal::Task<> program(shoal::World& world, Plan plan, std::vector<std::uint64_t>& totals);

struct Outcome {
  shoal::SimulationResult result;
  std::vector<std::uint64_t> totals;
};

/// The network's shape and roughness are drawn from the seed as well.
shoal::SimulationOptions options_of(std::uint64_t seed);

Outcome run(const Plan& plan, const shoal::SimulationOptions& options);

/// "": the seed's run ended well and its totals are right. Else what went wrong.
std::string trouble_with(std::uint64_t seed);

/// The command that repeats one seed, for the report of a failure.
std::string command_for(std::uint64_t seed);

}  // namespace mixture
