// SPDX-License-Identifier: Apache-2.0
// The problem: whether a parser believes a false length shows in what it asks the machine for.
// Offered: operator new, replaced by one that adds up what this thread asks for. Include it in one
// source of a program.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <utility>

namespace counted_new {

inline thread_local std::size_t asked_bytes = 0;

/// The bytes that this thread asks for while `body` runs. What it gives back is not subtracted.
template <class Body>
std::size_t asked_by(Body&& body) {
  const std::size_t before = asked_bytes;
  std::forward<Body>(body)();
  return asked_bytes - before;
}

}  // namespace counted_new

// All the forms that the others call: AddressSanitizer's own would not fit ours.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  counted_new::asked_bytes += bytes;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
