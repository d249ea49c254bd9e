// SPDX-License-Identifier: Apache-2.0
#include "tokens.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string_view>

// The functions below take the place of glibc's for the whole process, shared libraries included,
// and hand on to glibc's own names for the same. Not for sanitizer builds, which do the same.
extern "C" {
void* c_library_malloc(std::size_t) __asm__("__libc_malloc");
void* c_library_calloc(std::size_t, std::size_t) __asm__("__libc_calloc");
void* c_library_realloc(void*, std::size_t) __asm__("__libc_realloc");
void* c_library_memalign(std::size_t, std::size_t) __asm__("__libc_memalign");
}

namespace {

std::atomic<std::uint64_t> count{0};

void note() { count.fetch_add(1, std::memory_order_relaxed); }  // a statistic: no pair

}  // namespace

extern "C" {

void* malloc(std::size_t size) {
  note();
  return c_library_malloc(size);
}

void* calloc(std::size_t n, std::size_t size) {
  note();
  return c_library_calloc(n, size);
}

void* realloc(void* memory, std::size_t size) {
  note();
  return c_library_realloc(memory, size);
}

void* memalign(std::size_t alignment, std::size_t size) {
  note();
  return c_library_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  note();
  return c_library_memalign(alignment, size);
}

int posix_memalign(void** memory, std::size_t alignment, std::size_t size) {
  note();
  *memory = c_library_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

}  // extern "C"

namespace perf {

std::uint64_t allocations() { return count.load(std::memory_order_relaxed); }

long messages_asked_for(int argc, char** argv) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) == "--messages") return std::atol(argv[i + 1]);
  }
  return -1;
}

}  // namespace perf
