// SPDX-License-Identifier: Apache-2.0
#include "simulated_world.hpp"

#include <doctest/doctest.h>

#include <malloc.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

using namespace simulated;

namespace {

SimulatedOptions rough(std::uint64_t seed) {
  return {.seed = seed,
          .processes = 8,
          .pes_per_process = 4,
          .min_delay = 500,
          .max_delay = 40'000,
          .reorder = 0.05,
          .stall = 0.01,
          .stall_ns = 100'000,
          .step_cost = 300,
          .losses = {{.process = ProcessId{3}, .at = 400'000}}};
}

std::uint64_t hash_of_a_rough_run(std::uint64_t seed) {
  World world(rough(seed));
  chatter(world, 200);
  CHECK(world.network.events() > 1'000);
  return world.network.event_hash();
}

/// Sends `count` numbered frames from PE 0 to PE 1, `gap` apart, and runs to the end.
void stream(World& world, std::uint64_t count, Nanoseconds gap) {
  std::uint64_t sent = 0;
  world.network.wake_at(PeId{0}, gap);
  while (auto pe = world.network.next()) {
    world[number(*pe)].progress();
    if (*pe != PeId{0} || sent == count) continue;
    world[0].send(PeId{1}, sent++);
    world.network.wake_at(PeId{0}, world.now() + gap);
  }
}

std::size_t overtaken(const std::vector<Node::Heard>& heard) {
  std::size_t count = 0;
  for (std::size_t i = 1; i < heard.size(); ++i) {
    if (heard[i].number < heard[i - 1].number) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("SIM-01 equal seeds give equal runs, on every compiler and machine") {
  const std::uint64_t hash = hash_of_a_rough_run(42);
  CHECK(hash == hash_of_a_rough_run(42));
  CHECK(hash == 0x307efc452abeb00eULL);
}

TEST_CASE("different seeds give different runs") {
  CHECK(hash_of_a_rough_run(42) != hash_of_a_rough_run(43));
}

TEST_CASE("the hash tells runs apart that differ in one size") {
  const auto hash_with = [](std::uint64_t value) {
    World world({.processes = 2});
    world[0].send(PeId{1}, value);
    world.run();
    return world.network.event_hash();
  };
  CHECK(hash_with(1) != hash_with(2));
  CHECK(hash_with(1) == hash_with(101));  // of the same length
}

TEST_CASE("delays lie within their bounds and time never goes back") {
  World world({.seed = 3, .processes = 20, .min_delay = 1'000, .max_delay = 50'000});
  for (std::uint32_t from = 0; from < 20; ++from) {
    for (std::uint32_t to = 0; to < 20; ++to) world[from].send(PeId{to}, from);
  }
  Nanoseconds last = 0;
  while (auto pe = world.network.next()) {
    CHECK(world.now() >= last);
    last = world.now();
    world[number(*pe)].progress();
  }
  Nanoseconds shortest = 50'000;
  Nanoseconds longest = 0;
  for (const Node& node : world.nodes) {
    CHECK(node.heard.size() == 20);
    for (const auto& heard : node.heard) {
      shortest = std::min(shortest, heard.at);
      longest = std::max(longest, heard.at);
    }
  }
  CHECK(shortest >= 1'000);
  CHECK(longest <= 50'000);
  CHECK(shortest < 2'000);
  CHECK(longest > 25'000);
}

TEST_CASE("links differ, and each keeps its band") {
  World world({.seed = 5, .processes = 3, .min_delay = 1'000, .max_delay = 1'000'000});
  Random random(1);
  const LinkDelays delays({.seed = 5, .min_delay = 1'000, .max_delay = 1'000'000, .reorder = 0});
  bool differ = false;
  Nanoseconds before = 0;
  for (std::uint32_t to = 0; to < 20; ++to) {
    Nanoseconds shortest = 1'000'000;
    Nanoseconds longest = 0;
    for (int i = 0; i < 1'000; ++i) {
      const Nanoseconds delay = delays.draw(ProcessId{0}, ProcessId{to}, random);
      shortest = std::min(shortest, delay);
      longest = std::max(longest, delay);
    }
    CHECK(longest <= shortest * 35);  // half of ten octaves
    differ = differ || (before != 0 && (before > 2 * shortest || 2 * before < shortest));
    before = shortest;
  }
  CHECK(differ);
}

TEST_CASE("octaves are exact at powers of two, monotone, and come back rounded down") {
  for (unsigned bit = 0; bit < 62; ++bit) {
    CHECK(to_octaves(std::uint64_t{1} << bit) == std::uint64_t{bit} << 20U);
    CHECK(from_octaves(std::uint64_t{bit} << 20U) == std::uint64_t{1} << bit);
  }
  for (std::uint64_t x = 1; x < 1'000'000'000; x = x * 21 / 20 + 1) {
    CHECK(from_octaves(to_octaves(x)) <= x);
    CHECK(from_octaves(to_octaves(x)) + x / 1'000'000 + 1 >= x);
    CHECK(to_octaves(x) <= to_octaves(x + 1));
  }
}

TEST_CASE("a chance of reordering lets later frames overtake, and none is lost") {
  World world({.processes = 2, .min_delay = 1'000, .max_delay = 1'000, .reorder = 0.1});
  stream(world, 500, 100);
  CHECK(world[1].heard.size() == 500);
  CHECK(overtaken(world[1].heard) > 10);
}

TEST_CASE("without reordering and with one delay the order of each pair is kept") {
  World world({.processes = 2,
               .min_delay = 1'000,
               .max_delay = 1'000,
               .stall = 0.05,
               .stall_ns = 3'000,
               .step_cost = 170});
  stream(world, 500, 100);
  CHECK(world[1].heard.size() == 500);
  CHECK(overtaken(world[1].heard) == 0);
}

TEST_CASE("a stall delays every arrival of its process and loses none") {
  World world(
      {.processes = 2, .min_delay = 10, .max_delay = 10, .stall = 1, .stall_ns = 1'000'000});
  for (std::uint64_t i = 0; i < 100; ++i) world[0].send(PeId{1}, i);
  world.run();
  REQUIRE(world[1].heard.size() == 100);
  CHECK(world[1].heard.front().at > 10);
  CHECK(world[1].heard.back().at <= 1'000'010);
  CHECK(world.network.frames_in_flight() == 0);
}

TEST_CASE("a PE that runs is busy for the cost of its step, other PEs are not") {
  World world({.processes = 3, .min_delay = 100, .max_delay = 100, .step_cost = 1'000});
  world[0].send(PeId{1}, 1);
  world[0].send(PeId{2}, 2);
  world[1].answers = 1;  // mix(1) names the PE that it goes to
  world.run();
  CHECK(world[1].heard.front().at == 100);
  CHECK(world[2].heard.front().at == 100);
  const auto& answered = world[static_cast<std::uint32_t>(mix(1) % 3)].heard.back();
  CHECK(answered.number == mix(1));
  CHECK(answered.at == 1'200);  // it left when the step was over
}

TEST_CASE("work that takes longer keeps arrivals waiting") {
  World world({.processes = 2, .min_delay = 100, .max_delay = 100});
  world.network.busy(PeId{1}, 5'000);
  world[0].send(PeId{1}, 1);
  world.run();
  CHECK(world[1].heard.front().at == 5'000);
}

TEST_CASE("each time that a PE asked for wakes it once, in order of time") {
  World world({.processes = 2});
  for (Nanoseconds when : {300U, 100U, 200U, 100U, 300U, 100U})
    world.network.wake_at(PeId{1}, when);
  world.network.wake_at(PeId{0}, 150);
  world.network.wake_at(PeId{0}, 0);
  world.network.wake_at(PeId{0}, 0);
  std::vector<std::pair<std::uint32_t, Nanoseconds>> woken;
  while (auto pe = world.network.next()) woken.emplace_back(number(*pe), world.now());
  CHECK(woken == decltype(woken){{0, 0}, {1, 100}, {0, 150}, {1, 200}, {1, 300}});
}

TEST_CASE("a port is armed when nothing is at hand") {
  World world({.processes = 2});
  CHECK(world[1].port().arm());
  CHECK(world[1].port().event_fd() == -1);
  world[0].send(PeId{1}, 7);
  CHECK(world[1].port().arm());
  CHECK(world.network.next() == PeId{1});
  CHECK_FALSE(world[1].port().arm());
  CHECK(world[1].progress());
  CHECK(world[1].port().arm());
  CHECK_FALSE(world[1].progress());
}

TEST_CASE("what is sent to a port before it is open waits for it") {
  SimulatedNetwork network({.processes = 2});
  Pool pools[2];
  auto sender = std::move(network.open(PeId{0}, pools[0]).value());
  sender->send(PeId{1}, take_frame(pools[0], 8));
  CHECK_FALSE(network.next());
  auto receiver = std::move(network.open(PeId{1}, pools[1]).value());
  CHECK(network.next() == PeId{1});
  CHECK_FALSE(receiver->arm());
}

TEST_CASE("a port opens once, and only for a PE that exists") {
  World world({.processes = 2, .pes_per_process = 2});
  Pool pool;
  CHECK(world.network.open(PeId{3}, pool).error().code == ErrorCode::bad_argument);
  CHECK(world.network.open(PeId{4}, pool).error().code == ErrorCode::bad_argument);
}

TEST_CASE("ten thousand idle ports take at most 150 bytes each") {
  const auto allocated = [] {
    const auto info = mallinfo2();  // nothing but zeros under AddressSanitizer
    return info.uordblks + info.hblkhd;
  };
  constexpr std::uint32_t kPes = 10'000;
  Pool pool;  // its memory is not the network's
  std::vector<std::unique_ptr<Port>> ports;
  ports.reserve(kPes);
  const std::size_t before = allocated();
  SimulatedNetwork network({.processes = kPes});
  for (std::uint32_t pe = 0; pe < kPes; ++pe) {
    ports.push_back(std::move(network.open(PeId{pe}, pool).value()));
  }
  const std::size_t bytes_a_port = (allocated() - before) / kPes;
  CHECK(bytes_a_port <= 150);
  MESSAGE("an idle port takes " << bytes_a_port << " bytes");
  ports.clear();
}

TEST_CASE("frames travel on when the port and the pool of their sender die") {
  SimulatedNetwork network({.processes = 2});
  Pool pool;
  auto receiver = std::move(network.open(PeId{1}, pool).value());
  {
    Pool short_lived;
    auto sender = std::move(network.open(PeId{0}, short_lived).value());
    Frame* frame = take_frame(short_lived, 3);
    std::memcpy(frame->data(), "abc", 3);
    sender->send(PeId{1}, frame);
    sender->send(PeId{1}, take_frame(short_lived, 100'000));
  }
  struct Ear final : Receiver {
    void arrived(const Arrival& arrival) override { sizes.push_back(arrival.frame.size()); }
    virtual ~Ear() = default;
    std::vector<std::size_t> sizes;
  } ear;
  while (network.next()) receiver->progress(ear);
  std::ranges::sort(ear.sizes);
  CHECK(ear.sizes == std::vector<std::size_t>{3, 100'000});
}

TEST_CASE("nothing is left after drop_all, and pools may die") {
  World world({.processes = 10});
  for (std::uint32_t pe = 0; pe < 10; ++pe) world[pe].send(PeId{9 - pe}, pe);
  world.network.wake_at(PeId{2}, 77);
  CHECK(world.network.frames_in_flight() == 10);
  world.network.drop_all();
  CHECK(world.network.frames_in_flight() == 0);
  CHECK_FALSE(world.network.next());
  world[0].send(PeId{1}, 5);
  world.run();
  CHECK(world.heard() == 1);
}

TEST_CASE("events come out of the queue by time, and in order at equal times") {
  EventQueue queue;
  Random random(11);
  std::vector<std::pair<Nanoseconds, std::uint32_t>> expected;
  std::vector<std::pair<Nanoseconds, std::uint32_t>> popped;
  std::uint32_t subject = 0;
  Nanoseconds now = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random.chance(i < 10'000 ? 0.6 : 0.4) || queue.empty()) {
      const Nanoseconds time = now + random.below(50);
      expected.emplace_back(time, subject);
      queue.push(time, EventKind::run, subject++);
    } else {
      const Event event = queue.pop();
      now = event.time;
      popped.emplace_back(event.time, event.subject);
    }
  }
  while (!queue.empty()) {
    popped.emplace_back(queue.ahead(0)->time, queue.ahead(0)->subject);
    queue.pop();
  }
  std::ranges::sort(expected);
  CHECK(popped == expected);
}
