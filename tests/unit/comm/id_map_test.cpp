// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/id_map.hpp>
#include <shoal/comm/random.hpp>

#include <doctest/doctest.h>

#include <memory>
#include <unordered_map>

using shoal::comm::IdMap;
using shoal::comm::Random;

TEST_CASE("an empty id map finds and erases nothing") {
  IdMap<int> map;
  CHECK(map.find(0) == nullptr);
  CHECK_FALSE(map.erase(7));
  CHECK(map.size() == 0);
  map.for_each([](std::uint64_t, int&) { FAIL("there is nothing to visit"); });
}

TEST_CASE("an id map agrees with std::unordered_map over random operations") {
  constexpr std::uint64_t kSeed = 20;
  CAPTURE(kSeed);
  Random random(kSeed);
  IdMap<std::uint64_t> map;
  std::unordered_map<std::uint64_t, std::uint64_t> model;
  for (int i = 0; i < 200'000; ++i) {
    // Few distinct keys, some of them far apart, so that hits, misses and clusters all occur.
    const std::uint64_t key = random.below(600) << (random.chance(0.5) ? 0U : 40U);
    if (random.chance(0.5)) {
      const std::uint64_t value = random();
      map.insert(key, value);
      model[key] = value;
    } else {
      REQUIRE(map.erase(key) == (model.erase(key) == 1));
    }
    const std::uint64_t probe = random.below(600);
    const auto expected = model.find(probe);
    const std::uint64_t* found = map.find(probe);
    REQUIRE((found != nullptr) == (expected != model.end()));
    if (found != nullptr) REQUIRE(*found == expected->second);
    REQUIRE(map.size() == model.size());
  }
  std::size_t visited = 0;
  map.for_each([&](std::uint64_t key, std::uint64_t& value) {
    ++visited;
    CHECK(model.at(key) == value);
  });
  CHECK(visited == model.size());
}

TEST_CASE("an id map holds values that can only be moved and lets go of erased ones") {
  IdMap<std::shared_ptr<int>> map;
  auto value = std::make_shared<int>(3);
  map.insert(1, value);
  map.insert(2, value);
  CHECK(value.use_count() == 3);
  map.erase(1);
  CHECK(value.use_count() == 2);
  IdMap<std::shared_ptr<int>> other = std::move(map);
  CHECK(map.size() == 0);  // NOLINT(bugprone-use-after-move): moved-from maps are empty
  CHECK(**other.find(2) == 3);
  other.clear();
  CHECK(value.use_count() == 1);
}

TEST_CASE("an id map takes 100,000 neighbouring ids and gives each back") {
  IdMap<std::uint64_t> map;
  for (std::uint64_t i = 0; i < 100'000; ++i) map.insert(i, i * 3);
  for (std::uint64_t i = 0; i < 100'000; ++i) REQUIRE(*map.find(i) == i * 3);
  CHECK(map.find(100'000) == nullptr);
}
