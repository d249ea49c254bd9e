// SPDX-License-Identifier: Apache-2.0
// The problem: whether a parser believes a false length shows in what it asks the machine for.
// Offered: what operator new is asked for, in programs that list counted_new.cpp as a source.
#pragma once

#include <cstddef>
#include <utility>

namespace counted_new {

/// All bytes that this thread has asked for. What it gives back is not subtracted.
std::size_t asked_bytes() noexcept;

/// Those that it asks for while `body` runs.
template <class Body>
std::size_t asked_by(Body&& body) {
  const std::size_t before = asked_bytes();
  std::forward<Body>(body)();
  return asked_bytes() - before;
}

}  // namespace counted_new
