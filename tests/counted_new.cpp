// SPDX-License-Identifier: Apache-2.0
#include "counted_new.hpp"

#include <cstdlib>
#include <new>

namespace {
thread_local std::size_t asked = 0;
thread_local std::uint64_t times = 0;
}  // namespace

std::size_t counted_new::asked_bytes() noexcept { return asked; }
std::uint64_t counted_new::asked_times() noexcept { return times; }

// All the forms that the others call: AddressSanitizer's own would not fit ours.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  asked += bytes;
  ++times;
  return std::malloc(bytes == 0 ? 1 : bytes);
}
void* operator new(std::size_t bytes) {
  if (void* memory = operator new(bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
