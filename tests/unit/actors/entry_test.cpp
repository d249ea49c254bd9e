// SPDX-License-Identifier: Apache-2.0
#include "simulated_program.hpp"

#include <doctest/doctest.h>

#include <set>

namespace entry_test {
using namespace simulated_program;  // NOLINT(google-build-using-namespace)
using namespace shoal::actors;      // NOLINT(google-build-using-namespace)

struct Thing : Actor<Thing> {
  Thing() = default;
  explicit Thing(int, const std::string&) {}
  void plain(int) {}
  int constant(double) const { return 0; }
  void silent(int) noexcept {}
  int both() const noexcept { return 0; }
  Task<std::string> later(std::vector<int>) { co_return ""; }
  void in_fiber(Fiber&, int, const std::string&) {}
  const std::string& by_reference() const { return text; }
  void overloaded(int) {}
  void overloaded(double) {}
  std::string text;
};

template <class T, int N>
struct Templated : Actor<Templated<T, N>> {
  explicit Templated(int) {}
  void take(T) {}
  template <class U>
  void convert(U) {}
};

template <auto M>
std::string name_of() {
  return readable_name(Entry<M>::info);
}

constexpr auto kOfInt = static_cast<void (Thing::*)(int)>(&Thing::overloaded);
constexpr auto kOfDouble = static_cast<void (Thing::*)(double)>(&Thing::overloaded);
}  // namespace entry_test

using namespace entry_test;  // NOLINT(google-build-using-namespace)

TEST_CASE("an entry is named as its class and function are, whatever its kind") {
  CHECK(name_of<&Thing::plain>() == "entry_test::Thing::plain");
  CHECK(name_of<&Thing::constant>() == "entry_test::Thing::constant");
  CHECK(name_of<&Thing::silent>() == "entry_test::Thing::silent");
  CHECK(name_of<&Thing::both>() == "entry_test::Thing::both");
  CHECK(name_of<&Thing::later>() == "entry_test::Thing::later");
  CHECK(name_of<&Thing::in_fiber>() == "entry_test::Thing::in_fiber");
}

TEST_CASE("an entry of a template is named with its arguments") {
  CHECK(name_of<&Templated<int, 3>::take>() == "entry_test::Templated<int, 3>::take");
  CHECK(name_of<&Templated<std::pair<int, char>, 4>::take>() ==
        "entry_test::Templated<std::pair<int, char>, 4>::take");
  CHECK(name_of<&Templated<int, 3>::convert<double>>() ==
        "entry_test::Templated<int, 3>::convert<double>");
}

TEST_CASE("an overloaded entry is named as its function is") {
  CHECK(name_of<kOfInt>() == "entry_test::Thing::overloaded");
  CHECK(name_of<kOfDouble>() == "entry_test::Thing::overloaded");
}

TEST_CASE("a constructor is named after its class") {
  CHECK(readable_name(Constructor<Thing>::info) == "the constructor of entry_test::Thing");
  CHECK(readable_name(Constructor<Thing, int, std::string>::info) ==
        "the constructor of entry_test::Thing");
  CHECK(readable_name(Constructor<Templated<int, 3>, int>::info) ==
        "the constructor of entry_test::Templated<int, 3>");
}

TEST_CASE("each entry has a number of its own, and the table finds it by that") {
  const EntryTable& table = EntryTable::instance();
  std::set<std::uint16_t> ids;
  for (const EntryInfo* entry :
       {&Entry<&Thing::plain>::info, &Entry<&Thing::constant>::info, &Entry<kOfInt>::info,
        &Entry<kOfDouble>::info, &Constructor<Thing>::info}) {
    CHECK(table.find(entry->id) == entry);
    CHECK(ids.insert(entry->id).second);
  }
  CHECK(table.find(0xffff) == nullptr);
}

TEST_CASE("the digest of the entries does not change within a program") {
  const auto digest = EntryTable::instance().digest();
  CHECK(digest == EntryTable::instance().digest());
  CHECK(digest != std::array<std::byte, 32>{});
}

TEST_CASE("the list of entries has a line for each, with its type") {
  const std::string list = EntryTable::instance().list();
  const auto has = [&](const char* part) { return list.find(part) != std::string::npos; };
  (void)&Entry<kOfInt>::info;
  CHECK(has("(entry_test::Thing::*)(double) const"));
  CHECK(has("void (entry_test::Thing::*)(double)"));
  CHECK(has("entry_test::Thing::overloaded"));
  CHECK(has("ConstructorName<entry_test::Thing, int"));
}

TEST_CASE("a signature keeps parameters by value and knows the result and the kind") {
  static_assert(std::is_same_v<Signature<&Thing::in_fiber>::Stored, std::tuple<int, std::string>>);
  static_assert(Signature<&Thing::in_fiber>::kIsFiber);
  static_assert(Signature<&Thing::in_fiber>::Parameters::kSize == 2);
  static_assert(std::is_same_v<Signature<&Thing::later>::Result, std::string>);
  static_assert(Signature<&Thing::later>::kIsTask);
  static_assert(!Signature<&Thing::plain>::kIsTask && !Signature<&Thing::plain>::kIsFiber);
  static_assert(std::is_same_v<Signature<&Thing::by_reference>::Result, std::string>);
  static_assert(std::is_same_v<Signature<&Thing::both>::Result, int>);
  static_assert(std::is_same_v<Signature<&Thing::silent>::Class, Thing>);
  CHECK(true);
}

TEST_CASE("a block map gives each element one home, and the homes' ranges agree with it") {
  for (const std::uint32_t pes : {1U, 2U, 3U, 4U, 13U, 100U}) {
    for (const std::uint64_t extent :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{pes - 1}, std::uint64_t{pes},
          std::uint64_t{pes + 1}, std::uint64_t{7 * pes + 5}, std::uint64_t{10'007}}) {
      CAPTURE(pes);
      CAPTURE(extent);
      const BlockMap map{extent, pes};
      REQUIRE(map.first(0) == 0);
      REQUIRE(map.first(pes) == extent);
      for (std::uint32_t pe = 0; pe < pes; ++pe) {
        REQUIRE(map.first(pe) <= map.first(pe + 1));
        for (std::uint64_t element = map.first(pe); element < map.first(pe + 1); ++element) {
          REQUIRE(map.home(element) == pe);
        }
      }
    }
  }
}

TEST_CASE("a block map's parts differ by one element at most") {
  for (const std::uint64_t extent : {0ULL, 5ULL, 13ULL, 1'000'003ULL, 1ULL << 40U}) {
    const BlockMap map{extent, 13};
    std::set<std::uint64_t> sizes;
    for (std::uint32_t pe = 0; pe < 13; ++pe) sizes.insert(map.first(pe + 1) - map.first(pe));
    CHECK(*sizes.rbegin() - *sizes.begin() <= 1);
  }
}

TEST_CASE("an index beyond the array has a home too, where its messages wait") {
  const BlockMap map{10, 4};
  for (const std::uint64_t element : {10ULL, 11ULL, ~0ULL}) CHECK(map.home(element) < 4);
}
