// SPDX-License-Identifier: Apache-2.0
#include "simulated_world.hpp"

#include <doctest/doctest.h>

#include <array>
#include <vector>

using namespace simulated;

namespace {

/// A bulk of some bytes that PE 0 sends to PE 1.
struct Transfer {
  explicit Transfer(World& world) {
    for (std::size_t i = 0; i < source.size(); ++i) source[i] = static_cast<std::byte>(i * 7);
    world[0].send(PeId{1}, 0, {source, &sent});
  }
  void fetch(World& world) {
    REQUIRE(world[1].heard.size() == 1);
    world[1].port().receive(world[1].heard.front().bulk, target, received);
  }
  std::array<std::byte, 1'000> source{};
  std::array<std::byte, 1'000> target{};
  Noted sent;
  Noted received;
};

SimulatedOptions even(std::uint32_t processes) {
  return {.processes = processes, .min_delay = 100, .max_delay = 100};
}

}  // namespace

TEST_CASE("a bulk is announced, fetched after a delay, and then its sender is told") {
  World world(even(2));
  Transfer transfer(world);
  world.run();
  REQUIRE(world[1].heard.size() == 1);
  CHECK(world[1].heard.front().bulk_size == 1'000);
  CHECK(transfer.sent.runs == 0);
  transfer.fetch(world);
  CHECK(transfer.received.runs == 0);
  CHECK(world.network.next() == PeId{1});
  CHECK(world.now() == 200);
  CHECK(transfer.received.runs == 0);  // completions run in progress
  CHECK(world[1].progress());
  CHECK(transfer.received.runs == 1);
  CHECK(transfer.received.succeeded);
  CHECK(transfer.target == transfer.source);
  CHECK(transfer.sent.runs == 0);
  world.run();
  CHECK(world.now() == 300);
  CHECK(transfer.sent.runs == 1);
  CHECK(transfer.sent.succeeded);
}

TEST_CASE("a bulk that is released unread ends at its sender") {
  World world(even(2));
  Transfer transfer(world);
  world.run();
  world[1].port().release(world[1].heard.front().bulk);
  world.run();
  CHECK(transfer.sent.runs == 1);
  CHECK(transfer.sent.succeeded);
}

TEST_CASE("a loss drops the traffic of that process and no other, and is told") {
  World world(even(4));
  std::vector<ProcessId> told;
  world.network.on_lost([&](ProcessId process) { told.push_back(process); });
  for (std::uint32_t from = 0; from < 4; ++from) {
    for (std::uint32_t to = 0; to < 4; ++to) world[from].send(PeId{to}, from);
  }
  world.network.lose(ProcessId{2});
  world.network.lose(ProcessId{2});
  CHECK(told == std::vector{ProcessId{2}});
  CHECK(world.network.lost(ProcessId{2}));
  CHECK(world.network.frames_in_flight() == 9);
  world.run();
  CHECK(world[2].heard.empty());
  for (std::uint32_t pe : {0U, 1U, 3U}) {
    CHECK(world[pe].heard.size() == 3);
    for (const auto& heard : world[pe].heard) CHECK(heard.number != 2);
  }
}

TEST_CASE("what is sent from or to a lost process later vanishes, and it is never woken") {
  World world(even(3));
  world.network.wake_at(PeId{2}, 500);
  world.network.lose(ProcessId{2});
  world.network.wake_at(PeId{2}, 600);
  world[2].send(PeId{0}, 1);
  world[0].send(PeId{2}, 1);
  CHECK(world.network.frames_in_flight() == 0);
  CHECK_FALSE(world.network.next());
}

TEST_CASE("a scripted loss happens at its time") {
  auto options = even(2);
  options.losses = {{.process = ProcessId{1}, .at = 1'000}};
  World world(options);
  Nanoseconds told_at = 0;
  world.network.on_lost([&](ProcessId) {
    told_at = world.now();
    world.network.wake_at(PeId{0}, world.now());
  });
  world[0].send(PeId{1}, 1);
  CHECK(world.network.next() == PeId{1});
  CHECK(world.network.next() == PeId{0});
  CHECK(told_at == 1'000);
  CHECK(world[1].heard.empty());  // it lay at the port and went with it
}

TEST_CASE("a loss of the receiver fails its bulks, whatever stage they are in") {
  World world(even(2));
  Transfer transfer(world);
  SUBCASE("under way") {}
  SUBCASE("at hand") { REQUIRE(world.network.next() == PeId{1}); }
  SUBCASE("announced") { world.run(); }
  SUBCASE("being fetched") {
    world.run();
    transfer.fetch(world);
  }
  world.network.lose(ProcessId{1});
  world.run();
  CHECK(transfer.sent.runs == 1);
  CHECK_FALSE(transfer.sent.succeeded);
  CHECK(transfer.received.runs == 0);
}

TEST_CASE("a loss of the receiver after the fetch does not undo it") {
  World world(even(2));
  Transfer transfer(world);
  world.run();
  transfer.fetch(world);
  CHECK(world.network.next() == PeId{1});
  world.network.lose(ProcessId{1});
  world.run();
  CHECK(transfer.sent.runs == 1);
  CHECK(transfer.sent.succeeded);
  CHECK(transfer.received.runs == 0);
}

TEST_CASE("a bulk to a process that is lost already fails") {
  World world(even(2));
  world.network.lose(ProcessId{1});
  Transfer transfer(world);
  CHECK(transfer.sent.runs == 0);
  world.run();
  CHECK(transfer.sent.runs == 1);
  CHECK_FALSE(transfer.sent.succeeded);
}

TEST_CASE("a loss of the sender fails what is fetched from it") {
  World world(even(2));
  Transfer transfer(world);
  world.run();
  SUBCASE("before the receiver asks") {
    world.network.lose(ProcessId{0});
    transfer.fetch(world);
  }
  SUBCASE("while it is being fetched") {
    transfer.fetch(world);
    world.network.lose(ProcessId{0});
  }
  world.run();
  CHECK(transfer.received.runs == 1);
  CHECK_FALSE(transfer.received.succeeded);
  CHECK(transfer.sent.runs == 0);
}

TEST_CASE("an announced bulk of a lost sender can be released") {
  World world(even(2));
  Transfer transfer(world);
  world.run();
  world.network.lose(ProcessId{0});
  world[1].port().release(world[1].heard.front().bulk);
  world.run();
  CHECK(transfer.sent.runs == 0);
}

TEST_CASE("a bulk handle from before drop_all does nothing") {
  World world(even(2));
  Transfer transfer(world);
  world.run();
  world.network.drop_all();
  world[1].port().release(world[1].heard.front().bulk);
  transfer.fetch(world);
  world.run();
  CHECK(transfer.sent.runs == 0);
  CHECK(transfer.received.runs == 0);
}

TEST_CASE("a port closes when its bulks have ended") {
  World world(even(2));
  Transfer transfer(world);
  CHECK(world[0].port().close(world[0], 0).error().code == ErrorCode::timed_out);
  world.run();
  transfer.fetch(world);
  CHECK_FALSE(world[1].port().close(world[1], 0));
  world.run();
  CHECK(world[0].port().close(world[0], 0));
  CHECK(world[1].port().close(world[1], 0));
}

TEST_CASE("a receiver that goes away without a loss fails the bulks to it") {
  World world(even(2));
  Transfer transfer(world);
  world.run();
  world[1].close();
  world.run();
  CHECK(transfer.sent.runs == 1);
  CHECK_FALSE(transfer.sent.succeeded);
}

TEST_CASE("a process may lose itself while it receives") {
  World world(even(2));
  struct Suicide final : Receiver {
    explicit Suicide(SimulatedNetwork& its) : network(its) {}
    void arrived(const Arrival&) override {
      ++count;
      network.lose(ProcessId{1});
    }
    SimulatedNetwork& network;
    int count = 0;
  } suicide(world.network);
  world[0].send(PeId{1}, 1);
  world[0].send(PeId{1}, 2);
  world.network.busy(PeId{1}, 1'000);  // both are at hand at once
  REQUIRE(world.network.next() == PeId{1});
  world[1].port().progress(suicide);
  CHECK(suicide.count == 1);
  CHECK(world.network.frames_in_flight() == 0);
  CHECK_FALSE(world.network.next());
}
