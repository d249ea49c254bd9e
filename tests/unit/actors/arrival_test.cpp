// SPDX-License-Identifier: Apache-2.0
// What arrives from another process is checked before it is used.
#include "../../in_child.hpp"
#include "../../one_pe.hpp"
#include "simulated_program.hpp"

#include <shoal/actors/serialize/round_trip.hpp>

#include <doctest/doctest.h>

#include <cstring>

namespace arrival_test {
using namespace simulated_program;  // NOLINT(google-build-using-namespace)
using shoal::actors::CollectionKind;
using shoal::actors::Constructor;
using shoal::runtime::Envelope;
using shoal::runtime::Kind;

struct Target : Actor<Target, Index1> {
  void number(std::uint64_t value) { heard += value; }
  void text(const std::string&) {}
  Task<> array(Incoming<int> values) {
    std::vector<int> room(values.count());
    co_await values.into(room);
  }
  static inline std::uint64_t heard = 0;
};
struct Other : Actor<Other, Index1> {
  void nothing() {}
};
struct Alone : Actor<Alone> {};

template <auto M>
Envelope to_element_0() {
  (void)shoal::actors::EntryTable::instance();  // numbers the entries
  Envelope envelope;
  envelope.kind = Kind::entry;
  envelope.collection = 1;
  envelope.entry = shoal::actors::Entry<M>::info.id;
  return envelope;
}

/// As if a port handed the frame over on this PE.
void arrive(const Envelope& envelope, const std::vector<std::byte>& arguments) {
  shoal::runtime::Pe& pe = shoal::runtime::this_pe();
  ++pe.counters.created;
  shoal::comm::Arrival arrival;
  arrival.frame = arguments;
  pe.process().layer->arrived(pe, envelope, arrival);
}

/// How a job ends when this frame arrives at PE 0, where array 1 is of one Target.
SimulationResult end_after(const Envelope& envelope, const std::vector<std::byte>& arguments) {
  Target::heard = 0;
  return run_on({1, 1}, [&](World& world) -> Task<> {
    (void)world.create<Target>(1);
    co_await world.quiescence();
    arrive(envelope, arguments);
  });
}

/// What it says then; "": the frame was taken.
std::string answer_to(const Envelope& envelope, const std::vector<std::byte>& arguments) {
  const auto result = end_after(envelope, arguments);
  CHECK(result.exit_code == (result.said.empty() ? 0 : shoal::comm::kCheckFailed));
  return text_of(result);
}

std::vector<std::byte> bytes(std::size_t count, unsigned value = 0) {
  return std::vector<std::byte>(count, std::byte(value));
}
}  // namespace arrival_test

using namespace arrival_test;  // NOLINT(google-build-using-namespace)

TEST_CASE("a message that is right is taken") {
  CHECK(answer_to(to_element_0<&Target::number>(), bytes(8, 1)) == "");
  CHECK(Target::heard == 0x0101010101010101ULL);
}

TEST_CASE("a message that is too short or too long for its entry is refused") {
  for (const std::size_t count : {0U, 7U, 9U, 1000U}) {
    CHECK(says(answer_to(to_element_0<&Target::number>(), bytes(count)),
               "the arguments of arrival_test::Target::number do not parse"));
  }
}

TEST_CASE("a message whose text claims more than has come is refused") {
  CHECK(says(answer_to(to_element_0<&Target::text>(), bytes(20, 0xff)),
             "the arguments of arrival_test::Target::text do not parse"));
}

TEST_CASE("a message that claims an array beside it, where none was announced, is refused") {
  const std::uint64_t count = shoal::actors::kIsBulk;
  std::vector<std::byte> arguments(sizeof count);
  std::memcpy(arguments.data(), &count, sizeof count);
  CHECK(says(answer_to(to_element_0<&Target::array>(), arguments),
             "the arguments of arrival_test::Target::array do not parse"));
}

TEST_CASE("a message for an entry that does not exist is refused") {
  Envelope envelope = to_element_0<&Target::number>();
  envelope.entry = 0xfffe;
  CHECK(says(answer_to(envelope, bytes(8)), "there is no such entry"));
}

TEST_CASE("a message for an entry of another class is refused") {
  CHECK(says(answer_to(to_element_0<&Other::nothing>(), {}),
             "arrival_test::Other::nothing is not of the class of its target"));
}

TEST_CASE("a message for a constructor is refused") {
  Envelope envelope = to_element_0<&Target::number>();
  envelope.entry = Constructor<Target>::info.id;
  CHECK(says(answer_to(envelope, {}), "do not parse"));
}

TEST_CASE("a call from a PE that does not exist is refused") {
  Envelope envelope = to_element_0<&Target::number>();
  envelope.call = shoal::actors::CallId::make(1, shoal::comm::PeId{77}).value;
  CHECK(says(answer_to(envelope, bytes(8)), "its caller is no PE of this job"));
}

TEST_CASE("a call that arrives from another process, in the name of a PE of this one, is refused") {
  Envelope envelope = to_element_0<&Target::number>();
  envelope.call = shoal::actors::CallId::make(1, shoal::comm::PeId{0}).value;
  CHECK(says(answer_to(envelope, bytes(8)), "its caller is a PE of the process that it came to"));
}

TEST_CASE("a reply to a call that is not open is dropped") {
  Envelope envelope;
  envelope.kind = Kind::reply;
  envelope.call = shoal::actors::CallId::make(99, shoal::comm::PeId{0}).value;
  CHECK(answer_to(envelope, bytes(8)) == "");
}

TEST_CASE("a reply to a call of another PE is refused") {
  Envelope envelope;
  envelope.kind = Kind::reply;
  for (const std::uint64_t call :
       {shoal::actors::CallId::make(1, shoal::comm::PeId{1}).value, ~std::uint64_t{0}}) {
    envelope.call = call;
    CHECK(says(answer_to(envelope, bytes(8)), "a reply to a call of another PE"));
  }
}

namespace arrival_test {
Envelope to_all(Kind kind, std::uint16_t entry, std::uint64_t collection) {
  Envelope envelope;
  envelope.kind = kind;
  envelope.entry = entry;
  envelope.collection = collection;
  envelope.element = shoal::actors::kToAll;
  return envelope;
}
/// What a creation has in front of the constructor's arguments.
std::vector<std::byte> extent_and_kind(std::uint64_t extent, CollectionKind kind) {
  return shoal::actors::to_bytes(std::tuple{extent, kind});
}
bool is_refused(const Envelope& envelope, const std::vector<std::byte>& arguments) {
  return says(answer_to(envelope, arguments), "does not parse, or does not fit what is here");
}
}  // namespace arrival_test

TEST_CASE("a broadcast that does not parse or fit is refused") {
  const Envelope right = to_all(Kind::broadcast, to_element_0<&Target::number>().entry, 1);
  CHECK(answer_to(right, bytes(8, 1)) == "");
  CHECK(Target::heard == 0x0101010101010101ULL);
  CHECK(is_refused(right, bytes(3)));
  Envelope wrong = right;
  wrong.element = 0;
  CHECK(is_refused(wrong, bytes(8)));
  wrong = right;
  wrong.collection = shoal::actors::kSingles;
  CHECK(is_refused(wrong, bytes(8)));
  CHECK(is_refused(to_all(Kind::broadcast, to_element_0<&Other::nothing>().entry, 1), {}));
  CHECK(is_refused(to_all(Kind::broadcast, Constructor<Target>::info.id, 1), {}));
}

TEST_CASE("a creation of a collection that does not parse or fit is refused") {
  const std::uint16_t target = Constructor<Target>::info.id;
  const auto array_of_1 = extent_and_kind(1, CollectionKind::array);
  CHECK(answer_to(to_all(Kind::create, target, 9), array_of_1) == "");
  CHECK(is_refused(to_all(Kind::create, target, 9), bytes(3)));
  CHECK(is_refused(to_all(Kind::create, target, 9), extent_and_kind(1, CollectionKind{3})));
  CHECK(is_refused(to_all(Kind::create, target, 9), extent_and_kind(1, CollectionKind::singles)));
  CHECK(is_refused(to_all(Kind::create, to_element_0<&Other::nothing>().entry, 9), array_of_1));
  CHECK(is_refused(to_all(Kind::create, target, 1), array_of_1));  // it is there
  CHECK(is_refused(to_all(Kind::create, target, ~std::uint64_t{0}), array_of_1));
  Envelope to_one = to_all(Kind::create, target, 9);
  to_one.element = 0;
  CHECK(is_refused(to_one, array_of_1));
}

TEST_CASE("a creation of a single actor that lives elsewhere, or lives already, is refused") {
  Envelope envelope = to_all(Kind::create, Constructor<Alone>::info.id, shoal::actors::kSingles);
  const auto single = extent_and_kind(0, CollectionKind::singles);
  envelope.element = 77;
  CHECK(answer_to(envelope, single) == "");
  CHECK(is_refused(envelope, extent_and_kind(0, CollectionKind::array)));
  envelope.element = std::uint64_t{1} << shoal::actors::kHomeShift;
  CHECK(is_refused(envelope, single));
  const auto twice = run_on({1, 1}, [&](World& world) -> Task<> {
    (void)world.create_on<Alone>(0);
    co_await world.quiescence();
    envelope.element = shoal::actors::kHasSlot;
    arrive(envelope, single);
  });
  CHECK(says(text_of(twice), "does not fit what is here"));
}

TEST_CASE("an array that was announced to another PE than its target's is refused") {
  (void)shoal::actors::EntryTable::instance();
  one_pe::OnePe one;
  (void)World().create<Target>(2);  // element 1 lives on PE 1
  one.run();
  Envelope envelope = to_element_0<&Target::array>();
  envelope.element = 1;
  auto frame = bytes(shoal::runtime::written_size(envelope));
  shoal::runtime::write_envelope(frame.data(), envelope);
  const auto count = shoal::actors::to_bytes(shoal::actors::kIsBulk | 2);
  frame.insert(frame.end(), count.begin(), count.end());
  one.port().hand_over(frame, 2 * sizeof(int));
  one.run();
  CHECK(says(one.failure(), "Target::array of element 1, which lives on PE 1"));
  CHECK_FALSE(one.port().bulk_is_open());
}

TEST_CASE("a message right behind the creation of its target is checked once that is there") {
  const Envelope creation = to_all(Kind::create, Constructor<Target>::info.id, 9);
  Envelope other = to_element_0<&Other::nothing>();
  Envelope right = to_element_0<&Target::number>();
  other.collection = right.collection = 9;
  for (const bool fits : {true, false}) {
    Target::heard = 0;
    const auto result = run_on({1, 1}, [&](World&) -> Task<> {
      arrive(creation, extent_and_kind(1, CollectionKind::array));
      arrive(right, bytes(8, 1));
      if (!fits) arrive(other, {});
      co_return;
    });
    CHECK(says(text_of(result), "is not of the class of its target") == !fits);
    CHECK(result.exit_code == (fits ? 0 : shoal::comm::kCheckFailed));
    CHECK((Target::heard != 0 || !fits));
  }
}

TEST_CASE("random bytes behind any envelope are refused or taken, and nothing breaks") {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    shoal::comm::Random random(seed);
    Envelope envelope = to_element_0<&Target::number>();
    envelope.kind = static_cast<Kind>(number(shoal::comm::PeId{6}) + random.below(4));
    envelope.collection = random.below(3);
    envelope.element = random.below(3);
    envelope.entry = static_cast<std::uint16_t>(random.below(200));
    envelope.call = random.chance(0.5) ? 0 : random();
    envelope.flags = static_cast<std::uint8_t>(random.below(2));
    std::vector<std::byte> arguments(random.below(40));
    for (auto& byte : arguments) byte = static_cast<std::byte>(random.below(256));
    const int code = end_after(envelope, arguments).exit_code;
    // Taken; refused; or right, but for an element that is not there.
    CHECK((code == 0 || code == shoal::comm::kCheckFailed || code == 124));
  }
}
