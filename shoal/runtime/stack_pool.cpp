// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/error.hpp>
#include <shoal/comm/log.hpp>
#include <shoal/runtime/stack_pool.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace shoal::runtime {

namespace {
std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

std::atomic<std::size_t> guards{0};  // relaxed: a count

void unmap(const Stack& stack) noexcept {
  ::munmap(stack.bottom - stack.guard, stack.size + stack.guard);
  if (stack.guard != 0) guards.fetch_sub(1, std::memory_order_relaxed);
}

/// nullptr, and errno, if the system refuses it.
std::byte* map(std::size_t bytes, int protection) noexcept {
  void* memory = ::mmap(nullptr, bytes, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  return memory != MAP_FAILED ? static_cast<std::byte*>(memory) : nullptr;
}

// Maps of this process that are left to others than fiber stacks.
constexpr std::size_t kOtherMaps = 4'096;

/// A guard splits a map in two. At the limit the system refuses any map, even one that it would
/// join to its neighbour, so guards end before.
bool may_have_guard() {
  static const std::size_t most = [] {
    std::size_t maps = 65'530;
    std::ifstream("/proc/sys/vm/max_map_count") >> maps;
    return (maps - std::min(maps, kOtherMaps)) / 2;
  }();
  return guards.load(std::memory_order_relaxed) < most;
}

void warn_once() {
  static std::atomic<bool> said{false};  // relaxed: at worst a second line
  if (said.exchange(true, std::memory_order_relaxed)) return;
  comm::log(
      comm::Level::warning,
      "fiber stacks have no guard from here on: vm.max_map_count is nearly reached; raise it to "
      "have stack overflows noticed");
}
}  // namespace

StackPool::~StackPool() {
  for (const Stack& stack : idle_) unmap(stack);
}

Stack StackPool::take() {
  if (!idle_.empty()) {
    const Stack stack = idle_.back();
    idle_.pop_back();
    return stack;
  }
  const std::size_t size = (size_ + page_size() - 1) / page_size() * page_size();
  if (may_have_guard()) {
    std::byte* low = map(size + kGuard, PROT_NONE);
    if (low != nullptr && ::mprotect(low + kGuard, size, PROT_READ | PROT_WRITE) == 0) {
      guards.fetch_add(1, std::memory_order_relaxed);
      return {low + kGuard, size, kGuard};
    }
    if (low != nullptr) ::munmap(low, size + kGuard);
  }
  warn_once();
  std::byte* bottom = map(size, PROT_READ | PROT_WRITE);
  SHOAL_CHECK(bottom != nullptr, "no memory for a fiber stack of {} bytes: {}", size,
              std::strerror(errno));
  return {bottom, size, 0};
}

void StackPool::give(const Stack& stack) noexcept {
  if (idle_.size() < kIdle) {
    idle_.push_back(stack);
  } else {
    unmap(stack);
  }
}

}  // namespace shoal::runtime
