// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/topology.hpp>

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>

namespace shoal::runtime {

namespace {
std::vector<int> allowed_processors() {
  std::vector<int> processors;
  // More than 1,024 processors need a larger set than cpu_set_t.
  for (int most = CPU_SETSIZE; most <= 1 << 20; most *= 4) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(
        CPU_ALLOC(static_cast<std::size_t>(most)), [](cpu_set_t* old) { CPU_FREE(old); });
    const std::size_t bytes = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    if (::sched_getaffinity(0, bytes, set.get()) != 0) continue;
    for (int i = 0; i < most; ++i) {
      if (CPU_ISSET_S(static_cast<std::size_t>(i), bytes, set.get())) processors.push_back(i);
    }
    break;
  }
  if (processors.empty()) processors.push_back(0);
  return processors;
}

// The rank of each processor within its core: 0 for the first, 1 for its first sibling.
void order_by_core(std::vector<int>& processors) {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return;
  hwloc_topology_set_all_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_CORE, HWLOC_TYPE_FILTER_KEEP_ALL);
  // These backends ask each processor or each device in turn, and say nothing that is used here.
  for (const char* slow : {"x86", "pci", "opencl", "cuda", "nvml", "rsmi", "levelzero", "gl"}) {
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, slow);
  }
  if (hwloc_topology_load(topology) == 0) {
    const auto rank = [&](int processor) {
      hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(processor));
      return unit != nullptr ? unit->sibling_rank : 0U;
    };
    std::stable_sort(processors.begin(), processors.end(),
                     [&](int a, int b) { return rank(a) < rank(b); });
  }
  hwloc_topology_destroy(topology);
}

// "max 100000" or "150000 100000": microseconds of time per period. Version 2 of cgroups, then
// version 1.
unsigned quota_of_cgroup() {
  double quota = 0;
  double period = 0;
  if (std::ifstream file("/sys/fs/cgroup/cpu.max"); file >> quota >> period) {
    // "max" does not parse as a number: no quota
  } else {
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota;
    std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  }
  return quota > 0 && period > 0 ? static_cast<unsigned>(std::ceil(quota / period)) : 0U;
}
}  // namespace

Topology discover_topology() {
  Topology found;
  found.processors = allowed_processors();
  found.quota = quota_of_cgroup();
  if (found.processors.size() > 1) order_by_core(found.processors);
  return found;
}

bool bind_to(int processor) noexcept {
  const auto most = static_cast<std::size_t>(processor) + 1;
  cpu_set_t* set = CPU_ALLOC(most);
  if (set == nullptr) return false;
  const std::size_t bytes = CPU_ALLOC_SIZE(most);
  CPU_ZERO_S(bytes, set);
  CPU_SET_S(static_cast<std::size_t>(processor), bytes, set);
  const bool bound = ::sched_setaffinity(0, bytes, set) == 0;
  CPU_FREE(set);
  return bound;
}

}  // namespace shoal::runtime
