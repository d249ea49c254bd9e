// SPDX-License-Identifier: Apache-2.0
// The problem: whether a parser believes a false length, or a message costs memory, shows in what
// is asked of the machine. Offered: what operator new is asked for, and how often, in programs that
// list counted_new.cpp as a source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace counted_new {

/// All bytes that this thread has asked for. What it gives back is not subtracted.
std::size_t asked_bytes() noexcept;

/// How often this thread has asked.
std::uint64_t asked_times() noexcept;

/// The bytes that it asks for while `body` runs.
template <class Body>
std::size_t asked_by(Body&& body) {
  const std::size_t before = asked_bytes();
  std::forward<Body>(body)();
  return asked_bytes() - before;
}

}  // namespace counted_new
