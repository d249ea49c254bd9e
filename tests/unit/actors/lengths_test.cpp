// SPDX-License-Identifier: Apache-2.0
// Every length and count in a message between PEs, with every value that is wrong in an interesting
// way: it is refused, and no memory is asked for that the received bytes do not justify.
#include "../../counted_new.hpp"
#include "../../one_pe.hpp"

#include <shoal/actors/serialize/round_trip.hpp>
#include <shoal/actors/serialize/std.hpp>
#include <shoal/shoal.hpp>

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <vector>

namespace lengths_test {
using namespace shoal;  // NOLINT(google-build-using-namespace): what is tried
using actors::Bulk;
using actors::kIsBulk;
using actors::Reader;
using one_pe::OnePe;

using Message = std::vector<std::byte>;

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kBody = 64;  // bytes behind the count

struct Empty {
  void serialize(auto&) {}
};

struct Target : Actor<Target, Index1> {
  void values(const std::vector<double>&) {}
  void view(const View<double>&) {}
  void incoming(const Incoming<double>&) {}
};

/// Counts that `fit` elements can hold, one that they just cannot, and where signs and widths end.
std::vector<std::uint64_t> counts_around(std::uint64_t fit) {
  return {0,           fit,     fit + 1,     1ULL << 31U,         (1ULL << 32U) + 1,
          1ULL << 61U, kIsBulk, kIsBulk - 1, kIsBulk | (fit + 1), kMost - 1,
          kMost};
}

/// The numbers, then `body` zeros.
Message message_of(const std::vector<std::uint64_t>& numbers, std::size_t body = kBody) {
  Message message(numbers.size() * sizeof(std::uint64_t) + body);
  std::memcpy(message.data(), numbers.data(), numbers.size() * sizeof(std::uint64_t));
  return message;
}

/// Reads a T from a message whose count, behind `before`, is wrong in each way; `fit` is right.
template <class T>
void check_counts(std::uint64_t fit, const std::vector<std::uint64_t>& before = {}) {
  for (const std::uint64_t count : counts_around(fit)) {
    CAPTURE(__PRETTY_FUNCTION__);
    CAPTURE(count);
    auto numbers = before;
    numbers.push_back(count);
    const Message message = message_of(numbers);
    T value{};
    Reader reader(message);
    const std::size_t asked = counted_new::asked_by([&] { reader(value); });
    if (count > fit) CHECK(reader.failed());
    CHECK_FALSE((count == 0 && reader.failed() && before.empty()));
    CHECK(asked <= 64 * message.size());  // a byte in a hash set takes a node
  }
}

Message frame_of(const runtime::Envelope& envelope, const Message& arguments) {
  Message frame(runtime::written_size(envelope) + arguments.size());
  std::byte* rest = runtime::write_envelope(frame.data(), envelope);
  if (!arguments.empty()) std::memcpy(rest, arguments.data(), arguments.size());
  return frame;
}

/// A send to an element of an array that is not there yet, with these arguments.
template <auto M>
Message frame_of(const Message& arguments) {
  (void)actors::EntryTable::instance();  // numbers the entries
  runtime::Envelope envelope;
  envelope.collection = 1;
  envelope.source = 1;
  envelope.entry = actors::Entry<M>::info.id;
  return frame_of(envelope, arguments);
}

struct Outcome {
  std::string failure;
  std::size_t asked;  ///< bytes, of operator new and by the pool
};

/// What a PE makes of a frame with a bulk of that size beside it.
Outcome arrive(const Message& frame, std::size_t bulk_size) {
  OnePe one;
  one.port().hand_over(frame, bulk_size);
  const std::size_t before = one.pe().pool().reserved_bytes();
  const std::size_t asked = counted_new::asked_by([&] { one.run(); });
  return {one.failure(), asked + one.pe().pool().reserved_bytes() - before};
}
}  // namespace lengths_test

using namespace lengths_test;  // NOLINT(google-build-using-namespace)

TEST_CASE("a run's count beyond the message is refused") {
  check_counts<std::string>(kBody);
  check_counts<std::u16string>(kBody / 2);
  check_counts<std::vector<double>>(kBody / 8);
  check_counts<std::vector<bool>>(kBody * 8);
  check_counts<std::filesystem::path>(kBody);
}

TEST_CASE("a container's count beyond the message is refused") {
  check_counts<std::vector<std::string>>(kBody / 8);
  check_counts<std::vector<std::optional<int>>>(kBody);
  check_counts<std::vector<std::unique_ptr<int>>>(kBody);
  check_counts<std::deque<int>>(kBody / 4);
  check_counts<std::list<std::string>>(kBody / 8);
  check_counts<std::map<int, int>>(kBody / 8);
  check_counts<std::multimap<int, std::string>>(kBody / 12);
  check_counts<std::set<int>>(kBody / 4);
  check_counts<std::unordered_map<int, int>>(kBody / 8);
  check_counts<std::unordered_multiset<std::uint8_t>>(kBody);
  check_counts<std::vector<std::variant<int, std::string>>>(kBody / 4);
}

TEST_CASE("a count within a container, or behind another field, is refused as well") {
  check_counts<std::vector<std::vector<double>>>(kBody / 8, {1});
  check_counts<std::map<std::uint64_t, std::string>>(kBody, {1, 5});
  check_counts<std::tuple<std::uint64_t, std::vector<int>>>(kBody / 4, {7});
}

TEST_CASE("a count of elements without bytes is bounded") {
  for (const std::uint64_t count : counts_around(actors::kMaxEmptyElements)) {
    CAPTURE(count);
    const Message message = message_of({count}, 0);
    Reader reader(message);
    const std::size_t asked =
        counted_new::asked_by([&] { (void)reader.read<std::vector<std::tuple<>>>(); });
    CHECK(reader.failed() == (count > actors::kMaxEmptyElements));
    CHECK(asked <= 4 * actors::kMaxEmptyElements);
    Reader by_serialize(message);
    CHECK(counted_new::asked_by([&] { (void)by_serialize.read<std::vector<Empty>>(); }) <=
          4 * actors::kMaxEmptyElements);
    CHECK(by_serialize.failed() == (count > actors::kMaxEmptyElements));
  }
}

TEST_CASE("a variant's index and a shared object's number beyond the last are refused") {
  for (const std::uint32_t index : {2U, 3U, 1U << 31U, 0xffffffffU}) {
    Message message(sizeof index + kBody);
    std::memcpy(message.data(), &index, sizeof index);
    Reader reader(message);
    (void)reader.read<std::variant<int, double>>();
    CHECK(reader.failed());
  }
  for (const std::uint64_t object : {std::uint64_t{2}, std::uint64_t{3}, kIsBulk, kMost}) {
    const Message message = message_of({object});
    Reader reader(message);
    CHECK(reader.read<std::shared_ptr<int>>() == nullptr);
    CHECK(reader.failed());
  }
}

TEST_CASE("a bulk is taken by a count that is exactly its size, at any size") {
  for (const std::size_t size :
       {std::size_t{8}, std::size_t{1} << 31U, std::size_t{1} << 63U, std::size_t{kMost - 7}}) {
    for (const std::uint64_t count : counts_around(size / 8)) {
      CAPTURE(size);
      CAPTURE(count);
      const Message message = message_of({count | kIsBulk}, 0);
      Reader reader(message, Bulk{nullptr, size});
      CHECK(counted_new::asked_by([&] { (void)reader.announced(8); }) == 0);
      CHECK(reader.failed() == ((count & ~kIsBulk) != size / 8));
      Reader hasty(message, Bulk{nullptr, size});
      CHECK(counted_new::asked_by([&] { (void)hasty.read<std::vector<double>>(); }) == 0);
      CHECK(hasty.failed());
    }
  }
}

TEST_CASE("a frame whose arguments claim more than has come is refused on its PE") {
  const auto refused = [](const Message& frame) {
    const Outcome outcome = arrive(frame, 0);
    CHECK(outcome.failure.find("do not parse") != std::string::npos);
    CHECK(outcome.asked <= 64 * frame.size() + 16384);  // a slab of small blocks, the text
  };
  for (const std::uint64_t count : counts_around(kBody / 8)) {
    if (count == kBody / 8) continue;  // right
    CAPTURE(count);
    refused(frame_of<&Target::values>(message_of({count})));
    refused(frame_of<&Target::view>(message_of({count})));
    refused(frame_of<&Target::incoming>(message_of({count})));
  }
}

TEST_CASE("a bulk of the wrong size for its arguments is refused on its PE") {
  for (const std::uint64_t count : {2ULL, 4ULL, 1ULL << 31U, (1ULL << 61U) + 3, 0ULL}) {
    CAPTURE(count);
    const Message arguments = message_of({count | kIsBulk}, 0);
    for (const Message& frame :
         {frame_of<&Target::values>(arguments), frame_of<&Target::view>(arguments),
          frame_of<&Target::incoming>(arguments)}) {
      const Outcome outcome = arrive(frame, 24);
      CHECK(outcome.failure.find("do not parse") != std::string::npos);
      CHECK(outcome.asked <= 32768);
    }
  }
}

TEST_CASE("a bulk that no transport carries is refused before there is room for it") {
  for (const std::size_t size :
       {comm::kMaxFrame + 1, std::size_t{1} << 63U, std::size_t{kMost - 32}, std::size_t{kMost}}) {
    CAPTURE(size);
    const Message arguments = message_of({size / 8 | kIsBulk}, 0);
    for (const Message& frame :
         {frame_of<&Target::values>(arguments), frame_of<&Target::incoming>(arguments)}) {
      const Outcome outcome = arrive(frame, size);
      CHECK(outcome.failure.find("that are no message") != std::string::npos);
      CHECK(outcome.asked <= 16384);
    }
  }
}

TEST_CASE("a bulk beside what takes none is refused") {
  for (const runtime::Kind kind : {runtime::Kind::reply, runtime::Kind::broadcast,
                                   runtime::Kind::create, runtime::Kind::probe}) {
    runtime::Envelope envelope;
    envelope.kind = kind;
    CHECK(arrive(frame_of(envelope, {}), 8).failure.find("that are no message") !=
          std::string::npos);
  }
}
