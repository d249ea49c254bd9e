// SPDX-License-Identifier: Apache-2.0
// The problem: a fiber needs a stack whose end is noticed, and mapping one costs microseconds.
// Offered: a pool of stacks with a guard below each, of addresses that no memory backs: so wide
// that a function with a large array does not step over it into the stack of another fiber. Where
// the map limit refuses a guard (vm.max_map_count), stacks come without one, and one line says so.
//
// Limit: kIdle stacks are kept, the rest unmapped; those in use are as many as there are live
// fibers.
#pragma once

#include <cstddef>
#include <vector>

namespace shoal::runtime {

struct Stack {
  std::byte* bottom = nullptr;  ///< lowest usable byte
  std::size_t size = 0;
  std::size_t guard = 0;  ///< bytes below bottom that fault; 0: none
};

/// Belongs to one PE.
class StackPool {
 public:
  static constexpr std::size_t kIdle = 64;
  static constexpr std::size_t kGuard = std::size_t{1} << 20U;

  explicit StackPool(std::size_t size) noexcept : size_(size) {}
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;
  ~StackPool();
  Stack take();
  void give(const Stack& stack) noexcept;

 private:
  std::size_t size_;
  std::vector<Stack> idle_;
};

}  // namespace shoal::runtime
