// SPDX-License-Identifier: Apache-2.0
// The problem: a program should be tested under thousands of message orders before it meets a real
// network. Offered: shoal::simulate: the program, its actors and the real runtime in one thread,
// under virtual time and a seed.
#pragma once

#include <shoal/actors/run.hpp>
#include <shoal/runtime/simulation.hpp>

#include <string>
#include <vector>

namespace shoal::actors {

using runtime::SimulationOptions;
using runtime::SimulationResult;

namespace detail {
SimulationResult simulate_program(const SimulationOptions& options, AnyProgram program,
                                  RunSettings settings);
}

/// Runs `program` as `run` does, simulated. Returns when it has ended, or when nothing can happen
/// any more.
template <is_a_program P>
SimulationResult simulate(const SimulationOptions& options, P program, RunSettings settings = {}) {
  return detail::simulate_program(options, detail::as_task(std::move(program)),
                                  std::move(settings));
}

}  // namespace shoal::actors

namespace shoal {
using actors::simulate;
using actors::SimulationOptions;
using actors::SimulationResult;
}  // namespace shoal
