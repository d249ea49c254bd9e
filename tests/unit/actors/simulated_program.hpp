// SPDX-License-Identifier: Apache-2.0
// The problem: actors are to be tested between PEs and processes, the same way each time. Offered:
// a program run in simulation under a rough network, in every shape that matters.
#pragma once

#include <shoal/actors/simulate.hpp>
#include <shoal/shoal.hpp>

#include <fmt/format.h>

#include <string>
#include <vector>

namespace simulated_program {

using namespace shoal;  // NOLINT(google-build-using-namespace): a test's vocabulary

struct Shape {
  std::uint32_t processes = 1;
  std::uint32_t pes_per_process = 1;
  std::uint32_t pes() const { return processes * pes_per_process; }
};

/// One PE, two in a process, two processes, both.
inline const std::vector<Shape> kShapes = {{1, 1}, {1, 3}, {3, 1}, {3, 2}};

inline SimulationOptions rough(const Shape& shape, std::uint64_t seed = 1) {
  SimulationOptions options;
  options.network.seed = seed;
  options.network.processes = shape.processes;
  options.network.pes_per_process = shape.pes_per_process;
  options.network.reorder = 0.1;
  options.network.stall = 0.02;
  options.network.stall_ns = 300'000;
  options.most_events = 20'000'000;
  return options;
}

/// All that was said, a line each.
inline std::string text_of(const SimulationResult& result) {
  std::string text;
  for (const std::string& line : result.said) text += line + "\n";
  return text;
}

template <class P>
SimulationResult run_on(const Shape& shape, P program, RunSettings settings = {}) {
  return simulate(rough(shape), std::move(program), std::move(settings));
}

/// "": the program ended with 0. Else what happened instead, for CHECK.
inline std::string trouble(const SimulationResult& result) {
  if (result.exit_code == 0) return "";
  return fmt::format("exit code {}: {}", result.exit_code, text_of(result));
}

}  // namespace simulated_program
