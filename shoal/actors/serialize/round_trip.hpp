// SPDX-License-Identifier: Apache-2.0
// The problem: a `serialize` that forgets a field, or that reads in another order than it writes,
// shows only after a move, far away. Offered: `round_trip_check`, which debug builds and the
// strategy that moves everything in place call: write, construct, read, write again, compare. It
// finds what is written but not read back equal; a field that `serialize` never names is invisible
// to it.
#pragma once

#include <shoal/actors/serialize/bytes.hpp>

namespace shoal::actors {

/// Nothing if the spans are equal, else where they first differ.
std::optional<std::string> describe_difference(std::span<const std::byte> before,
                                               std::span<const std::byte> after);

/// Nothing if `value` survives the trip, else a sentence about where it does not.
template <Serializable T>
std::optional<std::string> round_trip_check(const T& value) {
  const auto before = to_bytes(value, ElementOrder::canonical);
  std::string why;
  const auto copy = from_bytes<T>(before, &why);
  if (!copy) return "what was written cannot be read: " + why;
  return describe_difference(before, to_bytes(*copy, ElementOrder::canonical));
}

}  // namespace shoal::actors
