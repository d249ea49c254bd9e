// SPDX-License-Identifier: Apache-2.0
// The problem: checkpoints, tests and tools want a value as bytes and back, in one call. Offered:
// `to_bytes` and `from_bytes`, for code that is not on the message path.
#pragma once

#include <shoal/actors/serialize/core.hpp>

namespace shoal::actors {

/// How values become bytes: canonical ones do not depend on the order of unordered containers.
enum class ElementOrder : std::uint8_t { as_stored, canonical };

template <Serializable T>
std::vector<std::byte> to_bytes(const T& value, ElementOrder order = ElementOrder::as_stored) {
  Sizer sizer;
  sizer(value);
  std::vector<std::byte> bytes(sizer.size());
  Writer writer(bytes.data(), bytes.size());
  if (order == ElementOrder::canonical) writer.set_canonical();
  writer(value);
  if (!writer.complete()) report_overrun(writer.written(), bytes.size());
  return bytes;
}

/// Nothing if the bytes are not exactly one T. `why`, if given, then tells where they differ.
template <Serializable T>
std::optional<T> from_bytes(std::span<const std::byte> bytes, std::string* why = nullptr) {
  Reader reader(bytes);
  std::optional<T> value(std::in_place);
  reader(*value);
  if (reader.fully_read()) return value;
  if (why != nullptr) *why = reader.describe();
  return std::nullopt;
}

}  // namespace shoal::actors
