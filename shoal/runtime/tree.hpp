// SPDX-License-Identifier: Apache-2.0
// The problem: what goes to all PEs must reach them in O(log P) steps, crossing between processes
// once a process. Offered: the job's shape and its spanning tree, rooted at PE 0: the first PEs of
// the processes form a 4-ary tree, the PEs of a process another below its first. Nothing is stored;
// all is computed.
#pragma once

#include <shoal/comm/ids.hpp>

#include <cstdint>

namespace shoal::runtime {

/// Every process has the same number of PEs.
struct Shape {
  std::uint32_t processes = 1;
  std::uint32_t pes_per_process = 1;

  std::uint32_t pes() const noexcept { return processes * pes_per_process; }
  comm::ProcessId process_of(comm::PeId pe) const noexcept {
    return comm::ProcessId{number(pe) / pes_per_process};
  }
  comm::PeId first_pe(comm::ProcessId process) const noexcept {
    return comm::PeId{number(process) * pes_per_process};
  }
};

inline constexpr std::uint32_t kTreeWidth = 4;

/// Only for PEs other than 0.
inline comm::PeId tree_parent(const Shape& shape, comm::PeId pe) noexcept {
  const std::uint32_t local = number(pe) % shape.pes_per_process;
  if (local != 0) return comm::PeId{number(pe) - local + (local - 1) / kTreeWidth};
  const std::uint32_t process = number(pe) / shape.pes_per_process;
  return shape.first_pe(comm::ProcessId{(process - 1) / kTreeWidth});
}

template <class Visit>
void for_each_tree_child(const Shape& shape, comm::PeId pe, Visit&& visit) {
  const std::uint32_t local = number(pe) % shape.pes_per_process;
  const std::uint32_t process = number(pe) / shape.pes_per_process;
  for (std::uint32_t i = 1; i <= kTreeWidth; ++i) {
    const std::uint64_t below = std::uint64_t{process} * kTreeWidth + i;
    if (local == 0 && below < shape.processes) {
      visit(shape.first_pe(comm::ProcessId{static_cast<std::uint32_t>(below)}));
    }
    const std::uint64_t inside = std::uint64_t{local} * kTreeWidth + i;
    if (inside < shape.pes_per_process) {
      visit(comm::PeId{number(pe) - local + static_cast<std::uint32_t>(inside)});
    }
  }
}

}  // namespace shoal::runtime
