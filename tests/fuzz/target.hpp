// SPDX-License-Identifier: Apache-2.0
// The problem: a parser must do no harm whatever it is given, and what it accepts must hold what it
// promises. Offered: what a fuzz target is, one function that tries one input, and `Input`, which
// cuts the input's bytes into the choices that a target makes. A broken promise is a failed
// SHOAL_CHECK, the library's or the target's.
#pragma once

#include <shoal/comm/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace shoal::fuzz {

using Bytes = std::span<const std::byte>;

/// What a target's file defines. Called again and again in one process: it leaves nothing behind.
void try_input(Bytes input);

/// Once it is used up, every choice is 0 and every piece empty.
class Input {
 public:
  explicit Input(Bytes bytes) : rest_(bytes) {}

  bool empty() const noexcept { return rest_.empty(); }
  std::uint8_t byte() noexcept {
    const Bytes one = bytes(1);
    return one.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(one[0]);
  }
  bool flag() noexcept { return (byte() & 1U) != 0; }
  /// From 0 to `limit` - 1; `limit` is at most 256.
  unsigned below(unsigned limit) noexcept { return byte() % limit; }
  /// Little-endian, of `size` bytes, at most 8.
  std::uint64_t number(std::size_t size) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  /// As many of the next bytes as there are.
  Bytes bytes(std::size_t size) noexcept {
    const Bytes piece = rest_.first(std::min(size, rest_.size()));
    rest_ = rest_.subspan(piece.size());
    return piece;
  }
  /// A byte says how many.
  Bytes piece() noexcept { return bytes(byte()); }
  std::string text() {
    const Bytes piece = this->piece();
    return {reinterpret_cast<const char*>(piece.data()), piece.size()};
  }
  Bytes rest() noexcept { return bytes(rest_.size()); }

 private:
  Bytes rest_;
};

}  // namespace shoal::fuzz
