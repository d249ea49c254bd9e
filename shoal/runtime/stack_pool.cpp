// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/error.hpp>
#include <shoal/comm/log.hpp>
#include <shoal/runtime/stack_pool.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace shoal::runtime {

namespace {
std::size_t page_size() noexcept {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

void unmap(const Stack& stack) noexcept {
  ::munmap(stack.bottom - stack.guard, stack.size + stack.guard);
}

/// nullptr, and errno, if the system refuses it.
std::byte* map(std::size_t bytes, int protection) noexcept {
  void* memory = ::mmap(nullptr, bytes, protection,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  return memory != MAP_FAILED ? static_cast<std::byte*>(memory) : nullptr;
}

void warn_once(int error_number) {
  static std::atomic<bool> said{false};  // relaxed: at worst a second line
  if (said.exchange(true, std::memory_order_relaxed)) return;
  comm::log(comm::Level::warning,
            "fiber stacks have no guard ({}): vm.max_map_count is reached; raise it to have "
            "stack overflows noticed",
            std::strerror(error_number));
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
  std::byte* low = map(size + kGuard, PROT_NONE);
  if (low != nullptr && ::mprotect(low + kGuard, size, PROT_READ | PROT_WRITE) == 0) {
    return {low + kGuard, size, kGuard};
  }
  warn_once(errno);
  if (low != nullptr) ::munmap(low, size + kGuard);
  // The system joins maps that lie side by side: these need none of their own.
  low = map(size, PROT_READ | PROT_WRITE);
  SHOAL_CHECK(low != nullptr, "no memory for a fiber stack of {} bytes: {}", size,
              std::strerror(errno));
  return {low, size, 0};
}

void StackPool::give(const Stack& stack) noexcept {
  if (idle_.size() < kIdle) {
    idle_.push_back(stack);
  } else {
    unmap(stack);
  }
}

}  // namespace shoal::runtime
