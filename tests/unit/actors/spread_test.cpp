// SPDX-License-Identifier: Apache-2.0
#include "simulated_program.hpp"

#include <doctest/doctest.h>

#include <map>

namespace spread_test {
using namespace simulated_program;  // NOLINT(google-build-using-namespace)

// What the actors of the run saw; a simulation is one thread.
struct Seen {
  std::map<std::int64_t, int> made;  // constructors, by index or PE
  std::map<std::int64_t, int> told;  // broadcasts and sends, by index or PE
  std::map<std::int64_t, std::uint32_t> where;
};
Seen seen;

struct Part : Actor<Part, Index1> {
  Part() { note(); }
  Part(int number, const std::string& words) : value(number), text(words) { note(); }
  void note() {
    ++seen.made[index()[0]];
    seen.where[index()[0]] = pe();
  }
  void hear(int by) { seen.told[index()[0]] += by; }
  void hear_text(std::string words, const std::vector<int>& numbers) {
    seen.told[index()[0]] += static_cast<int>(words.size() + numbers.size());
    words += "changed here only";
  }
  std::string tell() const { return fmt::format("{} {}", value, text); }
  int value = 0;
  std::string text;
};

struct Member : Actor<Member, PeIndex> {
  explicit Member(int number) : value(number) { ++seen.made[pe()]; }
  void hear(int by) { seen.told[pe()] += by; }
  void hear_through_local() {
    Member* here = group().local();
    REQUIRE(here == this);
    here->hear(1);
  }
  int value;
};

struct Single : Actor<Single> {
  explicit Single(std::uint32_t on) : asked_for(on) {}
  bool is_where_asked() const { return pe() == asked_for; }
  void hear(int by) { seen.told[pe()] += by; }
  std::uint32_t asked_for;
};

/// Creates from wherever it is, and sends at once, before anybody else knows of it.
struct Creator : Actor<Creator, PeIndex> {
  void array(int extent) {
    const auto made = world().create<Part>(extent, 7, "made elsewhere");
    made.broadcast<&Part::hear>(1);
    for (std::int64_t i = 0; i < made.size(); ++i) made[i].send<&Part::hear>(10);
  }
  void group_and_singles() {
    const auto members = world().create_group<Member>(3);
    members.broadcast<&Member::hear>(1);
    for (std::uint32_t pe = 0; pe < world().pes(); ++pe) {
      world().create_on<Single>(pe, pe).send<&Single::hear>(100);
    }
  }
  /// Hands the proxy to all others at once: they may hear of it before they know the array.
  void spread_proxy(int extent) {
    const auto made = world().create<Part>(extent);
    group().broadcast<&Creator::use>(made);
  }
  void use(const ArrayProxy<Part>& made) {
    for (std::int64_t i = 0; i < made.size(); ++i) made[i].send<&Part::hear>(1);
  }
};

std::map<std::int64_t, int> each(std::int64_t count, int value) {
  std::map<std::int64_t, int> map;
  for (std::int64_t i = 0; i < count; ++i) map[i] = value;
  return map;
}

/// Runs `body` on each shape, each with several seeds; the program ends when all is quiet.
template <class Body>
void on_all(Body body, const std::function<void(std::uint32_t pes)>& check) {
  for (const Shape& shape : kShapes) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(shape.processes);
      CAPTURE(shape.pes_per_process);
      CAPTURE(seed);
      seen = {};
      const auto result = simulate(rough(shape, seed), body);
      REQUIRE(trouble(result) == "");
      check(shape.pes());
    }
  }
}
}  // namespace spread_test

using namespace spread_test;  // NOLINT(google-build-using-namespace)

TEST_CASE("every element of an array is constructed once, where the block map says") {
  on_all([](World& world) { (void)world.create<Part>(11); },
         [](std::uint32_t pes) {
           REQUIRE(seen.made == each(11, 1));
           const actors::BlockMap map{11, pes};
           for (const auto& [index, pe] : seen.where) {
             REQUIRE(map.home(static_cast<std::uint64_t>(index)) == pe);
           }
         });
}

TEST_CASE("elements get the arguments of create") {
  on_all(
      [](World& world) -> Task<> {
        const auto array = world.create<Part>(5, 3, "three");
        for (int i = 0; i < 5; ++i) {
          REQUIRE(co_await array[i].template call<&Part::tell>() == "3 three");
        }
      },
      [](std::uint32_t) {});
}

TEST_CASE("an array of no elements can be created and told") {
  on_all([](World& world) { world.create<Part>(0).broadcast<&Part::hear>(1); },
         [](std::uint32_t) { REQUIRE(seen.told.empty()); });
}

TEST_CASE("a broadcast reaches every element once, from the moment of creation") {
  on_all(
      [](World& world) {
        const auto array = world.create<Part>(17);
        for (int i = 0; i < 10; ++i) array.broadcast<&Part::hear>(1);
        array.broadcast<&Part::hear_text>("four", std::vector<int>(6));
      },
      [](std::uint32_t) { REQUIRE(seen.told == each(17, 20)); });
}

TEST_CASE("a group has one member on each PE, and local() is that one") {
  on_all(
      [](World& world) {
        const auto members = world.create_group<Member>(5);
        members.broadcast<&Member::hear_through_local>();
        members[world.pes() - 1].send<&Member::hear>(1);
      },
      [](std::uint32_t pes) {
        REQUIRE(seen.made == each(pes, 1));
        auto expected = each(pes, 1);
        expected[pes - 1] = 2;
        REQUIRE(seen.told == expected);
      });
}

TEST_CASE("a single actor lives on the PE that was asked for") {
  on_all(
      [](World& world) -> Task<> {
        for (std::uint32_t pe = 0; pe < world.pes(); ++pe) {
          const auto one = world.create_on<Single>(pe, pe);
          const auto two = world.create_on<Single>(pe, pe);
          REQUIRE(one != two);
          REQUIRE(co_await one.call<&Single::is_where_asked>());
          REQUIRE(co_await two.call<&Single::is_where_asked>());
        }
      },
      [](std::uint32_t) {});
}

TEST_CASE("every PE can create arrays and broadcast to them at once") {
  on_all([](World& world) { world.create_group<Creator>().broadcast<&Creator::array>(9); },
         [](std::uint32_t pes) {
           REQUIRE(seen.made == each(9, static_cast<int>(pes)));
           REQUIRE(seen.told == each(9, static_cast<int>(pes) * 11));
         });
}

TEST_CASE("every PE can create groups and singles") {
  on_all(
      [](World& world) { world.create_group<Creator>().broadcast<&Creator::group_and_singles>(); },
      [](std::uint32_t pes) {
        REQUIRE(seen.made == each(pes, static_cast<int>(pes)));
        REQUIRE(seen.told == each(pes, static_cast<int>(pes) * 101));
      });
}

TEST_CASE("ACT-01 a proxy can be used on a PE that does not know its array yet") {
  on_all([](World& world) { world.create_group<Creator>().broadcast<&Creator::spread_proxy>(7); },
         [](std::uint32_t pes) { REQUIRE(seen.told == each(7, static_cast<int>(pes * pes))); });
}

TEST_CASE("five thousand collections can be created") {
  const auto result = run_on({2, 1}, [](World& world) -> Task<> {
    seen = {};
    for (int i = 0; i < 5'000; ++i) world.create<Part>(2)[1].send<&Part::hear>(1);
    co_await world.quiescence();
  });
  CHECK(trouble(result) == "");
  CHECK(seen.told[1] == 5'000);
}
