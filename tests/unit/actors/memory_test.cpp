// SPDX-License-Identifier: Apache-2.0
// What messages cost in memory once a program runs: nothing. This program counts operator new.
#include "../../counted_new.hpp"
#include "simulated_program.hpp"

#include <doctest/doctest.h>

namespace memory_test {
using namespace simulated_program;  // NOLINT(google-build-using-namespace)

// Multiples of the elements, so that the first and the last are on one PE, whose pools are looked
// at.
constexpr int kWarmUp = 24'000;
constexpr int kMeasured = 120'000;

struct Meter {
  std::uint64_t allocations_before = 0;
  std::size_t reserved_before = 0;
  std::uint64_t allocated = 0;
  std::size_t grown = 0;
  bool done = false;
};
Meter meter;

std::size_t reserved_bytes() {
  std::size_t bytes = 0;
  for (shoal::runtime::Pe* pe : shoal::runtime::this_pe().process().pes) {
    bytes += pe->pool().reserved_bytes();
  }
  return bytes;
}

/// Called with the number of each message; true: go on.
bool measure(int number) {
  if (number == kWarmUp) {
    meter.allocations_before = counted_new::asked_times();
    meter.reserved_before = reserved_bytes();
  }
  if (number == kWarmUp + kMeasured) {
    meter.allocated = counted_new::asked_times() - meter.allocations_before;
    meter.grown = reserved_bytes() - meter.reserved_before;
    meter.done = true;
  }
  return !meter.done;
}

struct Runner : Actor<Runner, Index1> {
  ElementProxy<Runner> next() { return array()[(index()[0] + 1) % array().size()]; }
  void pass(int number) {
    if (measure(number)) next().send<&Runner::pass>(number + 1);
  }
  void pass_with_priority(int number) {
    if (measure(number)) next().with_priority(-1).send<&Runner::pass_with_priority>(number + 1);
  }
  Task<> pass_by_task(int number) {
    co_await Yield{};
    if (measure(number)) next().send<&Runner::pass_by_task>(number + 1);
  }
  Task<int> answer(int number) {
    co_await Yield{};
    co_return number + 1;
  }
  Task<> asks(int number) {
    while (measure(number)) number = co_await next().call<&Runner::answer>(number);
  }
  void pass_in_fiber(Fiber& fiber, int number) {
    fiber.yield();
    if (measure(number)) next().send<&Runner::pass_in_fiber>(number + 1);
  }
  Task<> sleeps(int number) {
    while (measure(number++)) co_await sleep_for(std::chrono::microseconds(1));
  }
};

template <auto M>
void run_in(const Shape& shape, std::int64_t elements) {
  meter = {};
  SimulationOptions options = rough(shape);
  options.network.reorder = options.network.stall = 0;
  const auto result = simulate(
      options, [&](World& world) { world.create<Runner>(elements)[0].template send<M>(0); });
  REQUIRE(trouble(result) == "");
  REQUIRE(meter.done);
}
}  // namespace memory_test

using namespace memory_test;  // NOLINT(google-build-using-namespace)

TEST_CASE("a message on one PE allocates nothing and no pool grows") {
  run_in<&Runner::pass>({1, 1}, 3);
  CHECK(meter.allocated == 0);
  CHECK(meter.grown == 0);
}

TEST_CASE("a message with a priority allocates nothing and no pool grows") {
  run_in<&Runner::pass_with_priority>({1, 1}, 3);
  CHECK(meter.allocated == 0);
  CHECK(meter.grown == 0);
}

TEST_CASE("a message between PEs of a process allocates nothing and no pool grows") {
  run_in<&Runner::pass>({1, 4}, 8);
  CHECK(meter.allocated == 0);
  CHECK(meter.grown == 0);
}

TEST_CASE("a message between processes allocates nothing and no pool grows") {
  run_in<&Runner::pass>({3, 1}, 3);
  CHECK(meter.allocated == 0);
  CHECK(meter.grown == 0);
}

TEST_CASE("a message that runs as a task allocates nothing and no pool grows") {
  run_in<&Runner::pass_by_task>({1, 2}, 4);
  CHECK(meter.allocated == 0);
  CHECK(meter.grown == 0);
}

TEST_CASE("a call and its reply allocate nothing and no pool grows") {
  run_in<&Runner::asks>({1, 2}, 2);
  CHECK(meter.allocated == 0);
  CHECK(meter.grown == 0);
}

TEST_CASE("a timer allocates nothing and no pool grows") {
  run_in<&Runner::sleeps>({1, 1}, 1);
  CHECK(meter.allocated == 0);
  CHECK(meter.grown == 0);
}

TEST_CASE("a message that runs as a fiber allocates nothing and no pool grows") {
  run_in<&Runner::pass_in_fiber>({1, 1}, 2);
  CHECK(meter.allocated == 0);
  CHECK(meter.grown == 0);
}
