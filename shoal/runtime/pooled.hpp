// SPDX-License-Identifier: Apache-2.0
// The problem: coroutine frames and futures are as short-lived as messages and must not cost a
// malloc each. Offered: allocation of any object from the pool of the PE that runs, and its return
// from any PE.
#pragma once

#include <shoal/runtime/pe.hpp>

#include <cstddef>

namespace shoal::runtime {

/// Room before what is pooled: the block, rounded so that the object is aligned to 32.
inline constexpr std::size_t kPooledHeader = 32;
static_assert(sizeof(comm::Block) <= kPooledHeader);

/// On a PE's thread.
inline void* pooled_allocate(std::size_t bytes) {
  auto* block = this_pe().pool().make<comm::Block>(bytes + kPooledHeader);
  return reinterpret_cast<std::byte*>(block) + kPooledHeader;
}

/// On any PE's thread.
inline void pooled_free(void* object) noexcept {
  auto* block = reinterpret_cast<comm::Block*>(static_cast<std::byte*>(object) - kPooledHeader);
  this_pe().pool().release(block);
}

/// Derive from it to be allocated so.
struct Pooled {
  static void* operator new(std::size_t bytes) { return pooled_allocate(bytes); }
  static void operator delete(void* object) noexcept { pooled_free(object); }
};

}  // namespace shoal::runtime
