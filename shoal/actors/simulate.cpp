// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/simulate.hpp>

namespace shoal::actors::detail {

SimulationResult simulate_program(const SimulationOptions& options, AnyProgram program,
                                  RunSettings settings) {
  ActorLayer layer({"simulated"}, std::move(settings.on_exception), std::move(program));
  runtime::Simulation simulation(options, layer);
  return simulation.run();
}

}  // namespace shoal::actors::detail
