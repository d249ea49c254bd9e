// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/tree.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

using namespace shoal::runtime;  // NOLINT(google-build-using-namespace)
using shoal::comm::PeId;

namespace {

const std::vector<Shape> kShapes = {{1, 1}, {1, 2}, {2, 1},  {1, 5},   {5, 1},    {4, 3},
                                    {3, 4}, {7, 7}, {13, 1}, {1, 100}, {100, 10}, {10'000, 1}};

/// The depth of each PE below PE 0; 0xffffffff: never reached.
std::vector<std::uint32_t> depths(const Shape& shape) {
  std::vector<std::uint32_t> depth(shape.pes(), 0xffffffffU);
  std::vector<PeId> at{PeId{0}};
  depth[0] = 0;
  while (!at.empty()) {
    const PeId pe = at.back();
    at.pop_back();
    for_each_tree_child(shape, pe, [&](PeId child) {
      REQUIRE(number(child) < shape.pes());
      REQUIRE(depth[number(child)] == 0xffffffffU);  // reached once
      depth[number(child)] = depth[number(pe)] + 1;
      at.push_back(child);
    });
  }
  return depth;
}

}  // namespace

TEST_CASE("the tree reaches every PE once") {
  for (const Shape& shape : kShapes) {
    CAPTURE(shape.processes);
    CAPTURE(shape.pes_per_process);
    for (const std::uint32_t depth : depths(shape)) REQUIRE(depth != 0xffffffffU);
  }
}

TEST_CASE("a PE's parent has that PE among its children") {
  for (const Shape& shape : kShapes) {
    for (std::uint32_t i = 0; i < shape.pes(); ++i) {
      for_each_tree_child(shape, PeId{i},
                          [&](PeId child) { REQUIRE(tree_parent(shape, child) == PeId{i}); });
    }
  }
}

TEST_CASE("the depth of the tree grows with the logarithm of processes and of their PEs") {
  for (const Shape& shape : kShapes) {
    const double limit = std::ceil(std::log(3.0 * shape.processes + 1) / std::log(4.0)) +
                         std::ceil(std::log(3.0 * shape.pes_per_process + 1) / std::log(4.0));
    for (const std::uint32_t depth : depths(shape)) REQUIRE(depth <= limit);
  }
}

TEST_CASE("the tree enters each process once") {
  for (const Shape& shape : kShapes) {
    std::vector<unsigned> entered(shape.processes, 0);
    for (std::uint32_t i = 0; i < shape.pes(); ++i) {
      for_each_tree_child(shape, PeId{i}, [&](PeId child) {
        const auto process = shape.process_of(child);
        if (process != shape.process_of(PeId{i})) ++entered[number(process)];
      });
    }
    for (std::uint32_t p = 0; p < shape.processes; ++p) REQUIRE(entered[p] == (p == 0 ? 0 : 1));
  }
}

TEST_CASE("a shape of 100 processes of 10 PEs knows whose each PE is") {
  const Shape shape{100, 10};
  CHECK(shape.pes() == 1000);
  CHECK(shape.process_of(PeId{999}) == shoal::comm::ProcessId{99});
  CHECK(shape.first_pe(shoal::comm::ProcessId{99}) == PeId{990});
}
