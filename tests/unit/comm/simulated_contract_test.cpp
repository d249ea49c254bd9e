// SPDX-License-Identifier: Apache-2.0
#include "../../transport_contract.hpp"

#include <shoal/comm/simulated/network.hpp>

#include <doctest/doctest.h>

#include <deque>

using namespace shoal::comm;

namespace {

/// Runs one scenario under virtual time and returns what went wrong.
std::string run(const contract::Scenario& scenario, SimulatedOptions options) {
  options.processes = scenario.parties;
  SimulatedNetwork network(options);
  std::deque<Pool> pools(scenario.parties);
  std::vector<std::unique_ptr<Port>> ports;
  std::vector<std::unique_ptr<contract::Party>> owned;
  std::vector<contract::Party*> parties;
  for (unsigned index = 0; index < scenario.parties; ++index) {
    ports.push_back(std::move(network.open(PeId{index}, pools[index]).value()));
    auto& party = owned.emplace_back(scenario.make(index));
    party->index = index;
    party->count = scenario.parties;
    party->may_block = false;
    party->port = ports.back().get();
    party->pool = &pools[index];
    parties.push_back(party.get());
  }
  std::string failure = contract::drive_in_turn(
      parties, [&] { network.next(); }, network.clock());
  network.drop_all();
  return failure;
}

}  // namespace

TEST_CASE("the simulated network keeps the contract of transports on a calm network") {
  for (const auto& scenario : contract::scenarios()) {
    CAPTURE(scenario.name);
    CHECK(run(scenario, {.min_delay = 1'000, .max_delay = 1'000}) == "");
  }
}

TEST_CASE("the simulated network keeps the contract of transports on a rough network") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    for (const auto& scenario : contract::scenarios()) {
      CAPTURE(seed);
      CAPTURE(scenario.name);
      CHECK(run(scenario, {.seed = seed,
                           .min_delay = 1'000,
                           .max_delay = 10'000'000,
                           .reorder = 0.1,
                           .stall = 0.01,
                           .stall_ns = 1'000'000,
                           .step_cost = 500}) == "");
    }
  }
}
