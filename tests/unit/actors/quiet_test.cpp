// SPDX-License-Identifier: Apache-2.0
// Quiescence, as actors see it, under a network that reorders.
#include "simulated_program.hpp"

#include <doctest/doctest.h>

namespace quiet_test {
using namespace simulated_program;  // NOLINT(google-build-using-namespace)

struct Tally {
  std::uint64_t sent = 0;
  std::uint64_t heard = 0;
  int quiet = 0;
  int too_early = 0;
};
Tally tally;

struct Node : Actor<Node, Index1> {
  void flood(int generations) {
    ++tally.heard;
    if (generations == 0) return;
    for (int i = 1; i <= 2; ++i) {
      ++tally.sent;
      array()[(index()[0] * 3 + i) % array().size()].send<&Node::flood>(generations - 1);
    }
  }
  void hear() { ++tally.heard; }
  Task<> after_a_pause(int generations) {
    ++tally.heard;
    if (generations == 0) co_return;
    co_await sleep_for(std::chrono::milliseconds(20));
    ++tally.sent;
    array()[(index()[0] + 1) % array().size()].send<&Node::after_a_pause>(generations - 1);
  }
  void from_a_plain_entry() { (void)wait_in_a_task(); }
  Task<> wait_in_a_task() {
    co_await world().quiescence();
    note();
  }
  void wait_in_a_fiber(Fiber& fiber) {
    fiber.await(world().quiescence());
    note();
  }
  /// All elements do the same rounds; whoever is woken must see all that was sent before.
  Task<> rounds(int count) {
    for (int i = 0; i < count; ++i) {
      co_await world().quiescence();
      note();
      ++tally.sent;
      array()[(index()[0] * 7 + i) % array().size()].send<&Node::flood>(2);
      ++tally.sent;
      array()[(index()[0] * 5 + i) % array().size()].send<&Node::hear>();
    }
  }
  static void note() { ++tally.quiet; }
};

/// Two that take turns: the second waits within what the first one's wake-up caused.
struct Prober : Actor<Prober, PeIndex> {
  Task<> first(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      co_await world().quiescence();
      for (std::uint32_t pe = 0; pe < world().pes(); ++pe) {
        tally.sent += 1;
        group()[pe].send<&Prober::work>(i);
      }
    }
  }
  Task<> work(int) {
    // What is slow must have been heard of by all who are woken after it was sent.
    const std::uint64_t sent = ++slow_sent;
    group()[(pe() + 1) % world().pes()].send<&Prober::slow>();
    co_await world().quiescence();
    if (slow_heard < sent) ++tally.too_early;
    ++tally.quiet;
  }
  void slow() { ++slow_heard; }
  static inline std::uint64_t slow_sent = 0;
  static inline std::uint64_t slow_heard = 0;
};
}  // namespace quiet_test

using namespace quiet_test;  // NOLINT(google-build-using-namespace)

TEST_CASE("RED-04 quiescence comes after all messages have run, in every shape and order") {
  for (const Shape& shape : kShapes) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      tally = {};
      std::uint64_t heard = 0;
      const auto result = simulate(rough(shape, seed), [&](World& world) -> Task<> {
        const auto array = world.create<Node>(7);
        tally.sent = 1;
        array[3].send<&Node::flood>(6);
        co_await world.quiescence();
        heard = tally.heard;
      });
      REQUIRE(trouble(result) == "");
      REQUIRE(heard == tally.sent);
      REQUIRE(heard == 127);
    }
  }
}

TEST_CASE("RED-04b quiescence comes after fifty generations of timers") {
  for (const Shape& shape : kShapes) {
    tally = {};
    const auto result = run_on(shape, [](World& world) -> Task<> {
      world.create<Node>(5)[0].send<&Node::after_a_pause>(50);
      co_await world.quiescence();
      REQUIRE(tally.heard == 51);
    });
    REQUIRE(trouble(result) == "");
  }
}

TEST_CASE("RED-05 quiescence is told to a plain entry's task, a task, a fiber and the program") {
  for (const Shape& shape : kShapes) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      tally = {};
      const auto result = simulate(rough(shape, seed), [](World& world) -> Task<> {
        const auto array = world.create<Node>(6);
        for (int i = 0; i < 6; ++i) {
          array[i].send<&Node::from_a_plain_entry>();
          array[i].send<&Node::wait_in_a_task>();
          array[i].send<&Node::wait_in_a_fiber>();
        }
        co_await world.quiescence();
        co_await world.quiescence();
      });
      REQUIRE(trouble(result) == "");
      REQUIRE(tally.quiet == 18);
    }
  }
}

TEST_CASE("RED-05 elements on all PEs can go through rounds of quiescence together") {
  for (const Shape& shape : kShapes) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      tally = {};
      const auto result = simulate(rough(shape, seed), [](World& world) {
        world.create<Node>(6).broadcast<&Node::rounds>(10);
      });
      REQUIRE(trouble(result) == "");
      REQUIRE(tally.quiet == 60);
    }
  }
}

TEST_CASE("RED-04 one who asks while others are being told is told only when all is quiet again") {
  for (const Shape& shape : {Shape{3, 1}, Shape{4, 2}, Shape{8, 1}}) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed) {
      CAPTURE(seed);
      tally = {};
      Prober::slow_sent = Prober::slow_heard = 0;
      SimulationOptions options = rough(shape, seed);
      options.network.reorder = 0.4;
      const auto result = simulate(
          options, [](World& world) { world.create_group<Prober>().broadcast<&Prober::first>(3); });
      REQUIRE(trouble(result) == "");
      REQUIRE(tally.quiet == static_cast<int>(3 * shape.pes() * shape.pes()));
      REQUIRE(tally.too_early == 0);
    }
  }
}

TEST_CASE("COMM-13 nothing is lost when the counters pass 2^31 and 2^32") {
  struct Start {
    static Task<> at(World& world, std::uint64_t counter) {
      shoal::runtime::Pe& pe = shoal::runtime::this_pe();
      pe.counters.created += counter;
      pe.counters.processed += counter;
      const auto array = world.create<Node>(4);
      for (int i = 0; i < 20; ++i) array[i % 4].send<&Node::hear>();
      array.broadcast<&Node::hear>();
      co_await world.quiescence();
    }
  };
  for (const std::uint64_t start : {(1ULL << 31U) - 5, (1ULL << 32U) - 5}) {
    tally = {};
    const auto result =
        run_on({2, 2}, [start](World& world) -> Task<> { co_await Start::at(world, start); });
    CHECK(trouble(result) == "");
    CHECK(tally.heard == 24);
  }
}
