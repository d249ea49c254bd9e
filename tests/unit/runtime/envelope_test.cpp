// SPDX-License-Identifier: Apache-2.0
// What the envelope looks like to whoever receives it, whole or cut short.
#include <shoal/runtime/envelope.hpp>

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <vector>

using namespace shoal::runtime;  // NOLINT(google-build-using-namespace)

namespace {
using Bytes = std::vector<std::byte>;

Bytes written(const Envelope& envelope) {
  Bytes bytes(written_size(envelope));
  REQUIRE(write_envelope(bytes.data(), envelope) == bytes.data() + bytes.size());
  return bytes;
}

constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint64_t kMost64 = std::numeric_limits<std::uint64_t>::max();
}  // namespace

TEST_CASE("an envelope comes back as it was written, in each of its forms") {
  for (const std::uint64_t element : {std::uint64_t{0}, kMost32, kMost32 + 1, kMost64}) {
    for (const std::uint64_t collection : {std::uint64_t{3}, kMost32, kMost64 - 1}) {
      for (const std::uint64_t call : {std::uint64_t{0}, std::uint64_t{1}, kMost64}) {
        for (const std::int32_t priority : {0, 1, -1, std::numeric_limits<std::int32_t>::min()}) {
          const Envelope envelope{element,  collection, call,        0x01020304,
                                  priority, 0xfffe,     Kind::reply, kIsException};
          const Bytes bytes = written(envelope);
          Envelope read;
          REQUIRE(read_envelope(bytes, read) == bytes.size());
          CHECK(read.element == element);
          CHECK(read.collection == collection);
          CHECK(read.call == call);
          CHECK(read.source == envelope.source);
          CHECK(read.priority == priority);
          CHECK(read.entry == envelope.entry);
          CHECK(read.kind == envelope.kind);
          CHECK(read.flags == envelope.flags);
        }
      }
    }
  }
}

TEST_CASE("a send to an element of an array takes 16 bytes, and the longest envelope 36") {
  Envelope envelope;
  envelope.collection = kMost32;
  envelope.element = kMost32;
  CHECK(written_size(envelope) == 16);
  envelope.element = kMost64;
  envelope.call = 1;
  envelope.priority = -1;
  CHECK(written_size(envelope) == 36);
}

TEST_CASE("an envelope that is cut short anywhere is none") {
  Envelope envelope;
  envelope.element = kMost64;
  envelope.call = 7;
  envelope.priority = 5;
  const Bytes bytes = written(envelope);
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    Envelope read;
    CHECK(read_envelope({bytes.data(), size}, read) == 0);
  }
}

TEST_CASE("an envelope of an unknown kind is none") {
  Envelope envelope;
  envelope.kind = static_cast<Kind>(static_cast<int>(Kind::last) + 1);
  Envelope read;
  CHECK(read_envelope(written(envelope), read) == 0);
}
