// SPDX-License-Identifier: Apache-2.0
#include "serialize_samples.hpp"

#include <shoal/actors/serialize/round_trip.hpp>
#include <shoal/comm/error.hpp>

#include <doctest/doctest.h>

#include <stdexcept>

namespace shoal::actors {
namespace {

using samples::Ghost;
using samples::Side;
using samples::Versioned;

template <class... Ts>
std::vector<std::byte> written(const Ts&... values) {
  return to_bytes(std::tuple<Ts...>(values...));
}

// Whether `act` ends in a failed check, which here is an exception instead of the end.
template <class Act>
bool fails_a_check(Act&& act) {
  comm::on_check_failed([](const std::string& text) { throw std::runtime_error(text); });
  try {
    act();
  } catch (const std::runtime_error&) {
    return true;
  }
  comm::on_check_failed(nullptr);
  return false;
}

struct Base {
  virtual ~Base() = default;
  void serialize(auto&) {}
};
struct Last final : Base {};

TEST_CASE("every sample is read back equal, from exactly its bytes") {
  for (const auto& sample : samples::all_samples()) {
    CAPTURE(sample->type());
    const auto outcome = sample->read(sample->send(BulkRule::none).message, {});
    CAPTURE(outcome.archive);
    CHECK(outcome.fully_read);
    CHECK(outcome.equal);
  }
}

TEST_CASE("every sample passes the round-trip check") {
  for (const auto& sample : samples::all_samples()) {
    CAPTURE(sample->type());
    CHECK(sample->round_trip().value_or("passed") == "passed");
  }
}

TEST_CASE("reading replaces what the object held before") {
  for (const auto& sample : samples::all_samples()) {
    CAPTURE(sample->type());
    CHECK(sample->is_replaced_by_default());
  }
}

TEST_CASE("a message with a byte too many is refused") {
  for (const auto& sample : samples::all_samples()) {
    CAPTURE(sample->type());
    auto bytes = sample->send(BulkRule::none).message;
    bytes.push_back(std::byte{0});
    CHECK_FALSE(sample->read(bytes, {}).fully_read);
  }
}

TEST_CASE("the sizes of plain arguments are constants") {
  static_assert(kFixedSize<> == 0);
  static_assert(kFixedSize<int> == 4);
  static_assert(kFixedSize<double, int, std::uint64_t> == 20);
  static_assert(kFixedSize<bool, const char, Side, samples::Plain> == 19);
  static_assert(kFixedSize<std::tuple<int, bool>, std::pair<char, short>, int[3]> == 20);
  static_assert(kFixedSize<std::array<std::pair<bool, int>, 3>> == 15);
  static_assert(kFixedSize<std::monostate, std::bitset<9>, std::chrono::seconds> == 10);
  static_assert(!has_fixed_size<int, std::string>);
  static_assert(!has_fixed_size<std::array<std::string, 2>>);
  static_assert(!has_fixed_size<Ghost>);
  CHECK(written(1.0, 2, std::uint64_t{3}).size() == 20);
}

TEST_CASE("a Sizer is usable in constant expressions") {
  constexpr std::size_t size = [] {
    Sizer sizer;
    sizer(1, 2.0, true);
    return sizer.size();
  }();
  static_assert(size == 13);
}

TEST_CASE("trivially copyable is not enough to travel as bytes") {
  struct Pointers {
    int* p;
  };
  struct Tagged {
    int a;
    using plain_bytes = Tagged;
  };
  struct Inherits : Tagged {
    int* p;
  };
  static_assert(std::is_trivially_copyable_v<Pointers> && !Serializable<Pointers>);
  static_assert(Serializable<Tagged> && !Serializable<Inherits>);
}

TEST_CASE("what refers to other memory is not Serializable") {
  static_assert(!Serializable<int*> && !Serializable<const char*> && !Serializable<int&>);
  static_assert(!Serializable<std::string_view> && !Serializable<std::span<int>>);
  static_assert(!Serializable<void (*)()> && !Serializable<std::nullptr_t>);
  static_assert(!Serializable<std::vector<int*>> && !Serializable<std::optional<int*>>);
  static_assert(!Serializable<std::tuple<int, std::string_view>>);
  static_assert(!Serializable<std::map<int, int*>> && !Serializable<std::unique_ptr<int*>>);
}

TEST_CASE("a pointer to a class with virtual functions is refused unless the class is final") {
  static_assert(Serializable<Base> && !Serializable<std::unique_ptr<Base>>);
  static_assert(!Serializable<std::shared_ptr<Base>>);
  static_assert(Serializable<std::shared_ptr<Last>>);
}

TEST_CASE("a byte other than 0 and 1 is no bool") {
  const std::array bytes{std::byte{2}};
  Reader reader(bytes);
  CHECK_FALSE(reader.read<bool>() == false);
  CHECK(reader.failed());
  CHECK(reader.describe().find("a bool is neither 0 nor 1 (2)") != std::string::npos);
}

TEST_CASE("after a fault every value reads as its default") {
  const auto bytes = written(1, 2);
  const auto cut = std::span(bytes).first(6);
  Reader reader(cut);
  Ghost ghost{9, Side::east, {1, 2}};
  int number = 5;
  reader(ghost.step);
  reader(ghost);
  reader(number);
  CHECK(ghost == Ghost{0, Side::west, {}});
  CHECK(number == 0);
  CHECK(reader.failed());
  CHECK(reader.describe() == "reading byte 4 of 6: the message ends before its values (4)");
}

TEST_CASE("a length above what the message can hold is refused before memory is taken") {
  const auto bytes = written(std::uint64_t{1} << 62);
  CHECK_FALSE(from_bytes<std::vector<double>>(bytes).has_value());
  CHECK_FALSE(from_bytes<std::string>(bytes).has_value());
  CHECK_FALSE(from_bytes<std::vector<bool>>(bytes).has_value());
  CHECK_FALSE(from_bytes<std::vector<std::string>>(bytes).has_value());
  CHECK_FALSE(from_bytes<std::vector<Ghost>>(bytes).has_value());
  CHECK_FALSE(from_bytes<std::vector<samples::Empty>>(bytes).has_value());
  CHECK_FALSE(from_bytes<std::vector<std::monostate>>(bytes).has_value());
  CHECK_FALSE(from_bytes<std::list<std::monostate>>(bytes).has_value());
  CHECK_FALSE(from_bytes<std::map<int, int>>(bytes).has_value());
}

TEST_CASE("elements without bytes are limited for sender and receiver alike") {
  const std::vector<samples::Empty> most(kMaxEmptyElements);
  const auto copy = from_bytes<std::vector<samples::Empty>>(to_bytes(most));
  REQUIRE(copy.has_value());
  CHECK(copy->size() == kMaxEmptyElements);
  const std::vector<samples::Empty> more(kMaxEmptyElements + 1);
  CHECK(fails_a_check([&] { return to_bytes(more); }));
  const std::vector<std::monostate> none(kMaxEmptyElements + 1);
  CHECK(fails_a_check([&] { return to_bytes(none); }));
  CHECK_FALSE(from_bytes<std::vector<std::monostate>>(written(kMaxEmptyElements + 1)).has_value());
}

TEST_CASE("nesting is limited for sender and receiver alike") {
  const auto chain = [](std::uint32_t length) {
    auto tree = std::make_unique<samples::Tree>();
    for (std::uint32_t i = 0; i < length; ++i) {
      auto longer = std::make_unique<samples::Tree>();
      longer->next = std::move(tree);
      tree = std::move(longer);
    }
    return tree;
  };
  const auto deepest = chain(kMaxDepth - 1);
  auto bytes = to_bytes(deepest);
  CHECK(from_bytes<std::unique_ptr<samples::Tree>>(bytes).has_value());
  // One more level, as a sender without the check would write it.
  bytes.insert(bytes.begin(), bytes.begin(), bytes.begin() + 13);
  CHECK_FALSE(from_bytes<std::unique_ptr<samples::Tree>>(bytes).has_value());
  CHECK(fails_a_check([&] { return to_bytes(chain(kMaxDepth)); }));
}

TEST_CASE("shared pointers to one object point to one object again") {
  const auto shared = std::make_shared<std::string>("shared");
  const std::vector<std::shared_ptr<std::string>> values{
      shared, nullptr, std::make_shared<std::string>("other"), shared};
  const auto copy = from_bytes<std::vector<std::shared_ptr<std::string>>>(to_bytes(values));
  REQUIRE(copy.has_value());
  CHECK(copy->at(0) == copy->at(3));
  CHECK(copy->at(0).use_count() == 2);
  CHECK(copy->at(1) == nullptr);
  CHECK(*copy->at(0) == "shared");
  CHECK(*copy->at(2) == "other");
  CHECK(round_trip_check(values).value_or("passed") == "passed");
}

struct Ring {
  std::shared_ptr<Ring> next;
  void serialize(auto& ar) { ar(next); }
};

TEST_CASE("a cycle of shared pointers is read as a cycle") {
  auto ring = std::make_shared<Ring>();
  ring->next = std::make_shared<Ring>(Ring{ring});
  auto copy = from_bytes<std::shared_ptr<Ring>>(to_bytes(ring));
  REQUIRE(copy.has_value());
  CHECK((*copy)->next != *copy);
  CHECK((*copy)->next->next == *copy);
  (*copy)->next->next = nullptr;
  ring->next->next = nullptr;
}

TEST_CASE("a shared pointer to an object of another type or to none is refused") {
  using Two = std::tuple<std::shared_ptr<int>, std::shared_ptr<double>>;
  const auto wrong_type = written(std::uint64_t{1}, 5, std::uint64_t{2});
  CHECK_FALSE(from_bytes<Two>(wrong_type).has_value());
  CHECK_FALSE(from_bytes<std::shared_ptr<int>>(written(std::uint64_t{2})).has_value());
}

struct SharesLocals {
  std::string a, b;
  void serialize(auto& ar) {
    for (std::string* text : {&a, &b}) {
      auto local = std::make_shared<std::string>(*text);
      ar(local);
      *text = *local;
    }
  }
};

TEST_CASE("two local shared pointers are two objects, even at one address") {
  const auto copy = from_bytes<SharesLocals>(to_bytes(SharesLocals{"first", "second"}));
  REQUIRE(copy.has_value());
  CHECK(copy->a == "first");
  CHECK(copy->b == "second");
}

TEST_CASE("a version tells old data from new") {
  std::string why;
  const auto old = from_bytes<Versioned>(written(std::uint32_t{1}, 8), &why);
  CAPTURE(why);
  REQUIRE(old.has_value());
  CHECK(*old == Versioned{8, "default"});
  CHECK_FALSE(from_bytes<Versioned>(written(std::uint32_t{3}, 8), &why).has_value());
  CHECK(why.find("written by a newer version of this class (3)") != std::string::npos);
}

TEST_CASE("a variant index out of range and a repeated fault are reported once") {
  std::string why;
  CHECK_FALSE(from_bytes<std::variant<int, bool>>(written(std::uint32_t{2}), &why).has_value());
  CHECK(why == "reading byte 4 of 4: a variant has no such alternative (2)");
}

struct Forgetful {
  int a = 1;
  int b = 2;
  void serialize(auto& ar) {
    if constexpr (std::remove_cvref_t<decltype(ar)>::kReads) {
      ar(b, a);
    } else {
      ar(a, b);
    }
  }
};

TEST_CASE("the round-trip check tells where a wrong serialize differs") {
  CHECK(round_trip_check(Forgetful{}).value_or("passed") ==
        "what was read is written differently, from byte 0 of 8 on (then 8 bytes)");
}

struct Inconsistent {
  std::string text;
  void serialize(auto& ar) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(ar)>, Writer>) text += "longer";
    ar(text);
  }
};

TEST_CASE("writing more than was sized ends in a failed check") {
  CHECK(fails_a_check([&] { return to_bytes(Inconsistent{}); }));
}

TEST_CASE("archives tell what they are doing") {
  Sizer sizer;
  sizer(1, std::string("four"));
  CHECK(sizer.describe() == "sizing: 16 bytes so far, and 0 bytes of bulk");
  std::array<std::byte, 16> memory{};
  Writer writer(memory.data(), memory.size());
  writer(1);
  CHECK(writer.describe() == "writing byte 4 of 16");
  CHECK_FALSE(writer.complete());
}

}  // namespace
}  // namespace shoal::actors
