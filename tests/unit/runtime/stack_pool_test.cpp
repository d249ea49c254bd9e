// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/stack_pool.hpp>

#include <doctest/doctest.h>

#include <csignal>
#include <cstring>
#include <set>

#include "../../in_child.hpp"

using namespace shoal::runtime;  // NOLINT(google-build-using-namespace)

TEST_CASE("a stack has the size that was asked for, rounded to pages") {
  StackPool pool(10'000);
  const Stack stack = pool.take();
  CHECK(stack.size >= 10'000);
  CHECK(stack.size % static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) == 0);
  std::memset(stack.bottom, 1, stack.size);
  pool.give(stack);
}

TEST_CASE("a stack that was given back is taken again") {
  StackPool pool(std::size_t{64} << 10U);
  const Stack first = pool.take();
  pool.give(first);
  const Stack second = pool.take();
  CHECK(first.bottom == second.bottom);
  pool.give(second);
}

TEST_CASE("stacks in use are apart from each other") {
  StackPool pool(std::size_t{16} << 10U);
  std::set<std::byte*> bottoms;
  std::vector<Stack> stacks;
  for (int i = 0; i < 200; ++i) {
    stacks.push_back(pool.take());
    CHECK(bottoms.insert(stacks.back().bottom).second);
    std::memset(stacks.back().bottom, i, stacks.back().size);
  }
  for (int i = 0; i < 200; ++i) {
    CHECK(stacks[std::size_t(i)].bottom[0] == std::byte(i));
    pool.give(stacks[std::size_t(i)]);
  }
}

TEST_CASE("writing below a stack ends the process") {
  const ChildEnd end = in_child([] {
    ::signal(SIGSEGV, SIG_DFL);
    StackPool pool(std::size_t{64} << 10U);
    const Stack stack = pool.take();
    stack.bottom[-1] = std::byte{1};
    return 0;
  });
  CHECK(end.signal == SIGSEGV);
}
