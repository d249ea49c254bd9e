// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/in_process.hpp>

#include <doctest/doctest.h>

#include "../../transport_contract.hpp"
#include "../../transport_threads.hpp"

using namespace shoal::comm;  // NOLINT(google-build-using-namespace)

namespace {

TEST_CASE("the in-process transport keeps the contract between threads") {
  for (const contract::Scenario& scenario : contract::scenarios()) {
    SUBCASE(scenario.name) {
      auto transport = make_in_process_transport({.first_pe = PeId{5}, .pes = scenario.parties});
      CHECK(contract::run_in_threads(scenario, *transport, 5) == "");
    }
  }
}

TEST_CASE("the in-process transport keeps the contract within one thread") {
  for (const contract::Scenario& scenario : contract::scenarios()) {
    SUBCASE(scenario.name) {
      auto transport = make_in_process_transport({.pes = scenario.parties});
      CHECK(contract::run_in_one_thread(scenario, {transport.get()}) == "");
    }
  }
}

TEST_CASE("a transport that is alone owns no descriptor and closes at once") {
  Pool pool;
  auto transport = make_in_process_transport({.alone = true});
  auto port = transport->open(PeId{0}, pool);
  REQUIRE(port);
  CHECK((*port)->event_fd() == -1);
  CHECK((*port)->arm());
  contract::Party party;
  CHECK_FALSE((*port)->progress(party));
  CHECK((*port)->close(party, 0));
}

}  // namespace
