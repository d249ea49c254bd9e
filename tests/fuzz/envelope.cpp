// SPDX-License-Identifier: Apache-2.0
// read_envelope: what it takes is in range, is written in no more bytes, and reads the same again.
#include "target.hpp"

#include <shoal/runtime/envelope.hpp>

#include <array>

namespace shoal::fuzz {

using runtime::Envelope;

namespace {
bool same(const Envelope& a, const Envelope& b) {
  return a.element == b.element && a.collection == b.collection && a.call == b.call &&
         a.source == b.source && a.priority == b.priority && a.entry == b.entry &&
         a.kind == b.kind && a.flags == b.flags;
}
}  // namespace

void try_input(Bytes input) {
  Envelope envelope;
  const std::size_t size = runtime::read_envelope(input, envelope);
  if (size == 0) return;
  SHOAL_CHECK(size >= 16 && size <= 36 && size <= input.size(), "{} bytes", size);
  SHOAL_CHECK(envelope.kind <= runtime::Kind::last, "a kind that does not exist");
  SHOAL_CHECK((envelope.flags & ~unsigned{runtime::kAllFlags}) == 0, "a flag that does not exist");

  std::array<std::byte, 36> room;
  const std::size_t written = runtime::written_size(envelope);
  SHOAL_CHECK(written <= size, "{} bytes became {}", size, written);
  SHOAL_CHECK(runtime::write_envelope(room.data(), envelope) == room.data() + written, "its size");
  Envelope again;
  SHOAL_CHECK(runtime::read_envelope(std::span(room).first(written), again) == written, "again");
  SHOAL_CHECK(same(envelope, again), "another envelope");
}

}  // namespace shoal::fuzz
