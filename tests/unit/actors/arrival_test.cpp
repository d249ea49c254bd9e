// SPDX-License-Identifier: Apache-2.0
// What arrives from another process is checked before it is used.
#include "../../in_child.hpp"
#include "simulated_program.hpp"

#include <doctest/doctest.h>

#include <cstring>

namespace arrival_test {
using namespace simulated_program;  // NOLINT(google-build-using-namespace)
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
  envelope.entry = shoal::actors::Constructor<Target>::info.id;
  CHECK(says(answer_to(envelope, {}), "do not parse"));
}

TEST_CASE("a call from a PE that does not exist is refused") {
  Envelope envelope = to_element_0<&Target::number>();
  envelope.call = shoal::actors::CallId::make(1, shoal::comm::PeId{77}).value;
  CHECK(says(answer_to(envelope, bytes(8)), "its caller is no PE of this job"));
}

TEST_CASE("a reply to a call that is not open is dropped") {
  Envelope envelope;
  envelope.kind = Kind::reply;
  envelope.call = shoal::actors::CallId::make(99, shoal::comm::PeId{0}).value;
  CHECK(answer_to(envelope, bytes(8)) == "");
}

TEST_CASE("a broadcast or a creation that does not parse is refused") {
  Envelope envelope = to_element_0<&Target::number>();
  envelope.kind = Kind::broadcast;
  CHECK(says(answer_to(envelope, bytes(3)), "do not parse"));
  envelope.kind = Kind::create;
  envelope.collection = 9;
  envelope.entry = shoal::actors::Constructor<Target>::info.id;
  CHECK(says(answer_to(envelope, bytes(3)), "do not parse"));
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
