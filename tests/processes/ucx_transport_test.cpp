// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/ucx/packed.hpp>
#include <shoal/comm/ucx/ucx_library.hpp>
#include <shoal/comm/ucx/ucx_transport.hpp>

#include <doctest/doctest.h>

#include <dlfcn.h>

#include "../transport_contract.hpp"
#include "../transport_processes.hpp"

using namespace shoal::comm;  // NOLINT(google-build-using-namespace)

namespace {

Expected<std::unique_ptr<Transport>> one_pe(PeId pe, AddressBook& addresses) {
  return make_ucx_transport({.first_pe = pe, .addresses = &addresses});
}

void keep_the_contract_between_processes(const char* transports) {
  const contract::Environment tls("UCX_TLS", transports);
  for (const contract::Scenario& scenario : contract::scenarios()) {
    SUBCASE(scenario.name) { CHECK(contract::run_in_processes(scenario, one_pe) == ""); }
  }
}

TEST_CASE("BLD-01 another libucp in the process is named") {
  auto library = ucx_library();
  REQUIRE(library);
  CHECK(other_ucx_libraries(*library).empty());
  void* const other = ::dlopen(FAKE_UCP, RTLD_NOW | RTLD_LOCAL);
  REQUIRE(other != nullptr);
  const auto found = other_ucx_libraries(*library);
  REQUIRE(found.size() == 1);
  CHECK(found[0] == FAKE_UCP);
  ::dlclose(other);
}

TEST_CASE("UCX keeps the contract between processes over what Shoal chooses") {
  keep_the_contract_between_processes(nullptr);
}
TEST_CASE("UCX keeps the contract between processes over shared memory without CMA") {
  keep_the_contract_between_processes("self,posix");
}
TEST_CASE("UCX keeps the contract between processes over TCP") {
  keep_the_contract_between_processes("self,tcp");
}

TEST_CASE("UCX keeps the contract between threads of one process") {
  for (const contract::Scenario& scenario : contract::scenarios()) {
    SUBCASE(scenario.name) {
      contract::SmallAddressBook addresses;
      auto transport = make_ucx_transport(
          {.first_pe = PeId{2}, .pes = scenario.parties, .addresses = &addresses});
      REQUIRE(transport);
      CHECK(contract::run_in_threads(scenario, **transport, 2) == "");
    }
  }
}

TEST_CASE("UCX keeps the contract between two contexts in one thread") {
  for (const contract::Scenario& scenario : contract::scenarios()) {
    SUBCASE(scenario.name) {
      contract::SmallAddressBook addresses;
      std::vector<std::unique_ptr<Transport>> transports;
      std::vector<Transport*> pointers;
      for (unsigned i = 0; i < scenario.parties; ++i) {
        auto transport = one_pe(PeId{i}, addresses);
        REQUIRE(transport);
        pointers.push_back(transports.emplace_back(std::move(*transport)).get());
      }
      CHECK(contract::run_in_one_thread(scenario, pointers) == "");
    }
  }
}

}  // namespace
