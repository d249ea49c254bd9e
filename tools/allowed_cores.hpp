// SPDX-License-Identifier: Apache-2.0
// How many cores this process may use: its affinity mask, and the CPU quota of its control groups.
#pragma once

#include <cstdint>
#include <string>

namespace shoal::tools {

/// At least 1. A quota counts as whole cores, rounded down: PEs that spin would be throttled
/// otherwise.
std::uint32_t allowed_cores();

/// The same quota from files below `root` ("/sys/fs/cgroup") for the groups listed in `groups`, the
/// text of /proc/self/cgroup. 0: no quota.
std::uint32_t quota_cores(const std::string& root, const std::string& groups);

}  // namespace shoal::tools
