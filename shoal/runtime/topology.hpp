// SPDX-License-Identifier: Apache-2.0
// The problem: PEs want a core each, but only among those that this process may use: a mask, a
// cgroup or a batch system may have taken some. Offered: the processors that may be used, best
// first, and binding to one.
#pragma once

#include <string>
#include <vector>

namespace shoal::runtime {

struct Topology {
  /// Operating-system numbers of the processors this process may use: one per core first, then
  /// their siblings.
  std::vector<int> processors;
  /// Processors that a cgroup's time quota is worth, rounded up; 0: no quota.
  unsigned quota = 0;

  /// How many PEs can run at once.
  unsigned usable() const noexcept {
    const auto count = static_cast<unsigned>(processors.size());
    return quota != 0 && quota < count ? quota : count;
  }
};

/// Reads the affinity mask of the calling thread, the cgroup's quota and, for the order, hwloc's
/// view of the cores. Takes a few milliseconds; what hwloc cannot tell is left in numerical order.
Topology discover_topology();

/// Binds the calling thread. False, with errno set, where the system refuses.
bool bind_to(int processor) noexcept;

}  // namespace shoal::runtime
