// SPDX-License-Identifier: Apache-2.0
#include <tools/allowed_cores.hpp>

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace shoal::tools {

namespace {

std::uint32_t affinity_cores() {
  // A kernel with more CPUs than the set has room for answers EINVAL: double it.
  for (int cpus = 1024; cpus <= (1 << 20); cpus *= 2) {
    cpu_set_t* set = CPU_ALLOC(cpus);
    const std::size_t size = CPU_ALLOC_SIZE(cpus);
    const bool good = ::sched_getaffinity(0, size, set) == 0;
    const int count = good ? CPU_COUNT_S(size, set) : 0;
    CPU_FREE(set);
    if (count > 0) return static_cast<std::uint32_t>(count);
  }
  return static_cast<std::uint32_t>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

struct Quota {
  long long quota = -1;  // microseconds a period; -1: none
  long long period = 0;
};

std::uint32_t cores_of(Quota quota) {
  if (quota.quota <= 0 || quota.period <= 0) return 0;
  return static_cast<std::uint32_t>(std::max(1LL, quota.quota / quota.period));
}

std::uint32_t smaller_quota(std::uint32_t a, std::uint32_t b) {
  if (a == 0 || b == 0) return std::max(a, b);
  return std::min(a, b);
}

// Version 2: "max 100000" or "150000 100000".
std::uint32_t quota_v2(const std::string& folder) {
  Quota quota;
  std::ifstream(folder + "/cpu.max") >> quota.quota >> quota.period;
  return cores_of(quota);
}

std::uint32_t quota_v1(const std::string& folder) {
  Quota quota;
  std::ifstream(folder + "/cpu.cfs_quota_us") >> quota.quota;
  std::ifstream(folder + "/cpu.cfs_period_us") >> quota.period;
  return cores_of(quota);
}

// The limits of a group and of all above it hold.
template <class Read>
std::uint32_t walk_up(const std::string& root, std::string group, Read read) {
  std::uint32_t cores = read(root);
  while (group.size() > 1) {
    cores = smaller_quota(cores, read(root + group));
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
  return cores;
}

}  // namespace

std::uint32_t quota_cores(const std::string& root, const std::string& groups) {
  std::uint32_t cores = 0;
  std::istringstream lines(groups);
  // "0::/user.slice/x" (version 2) or "4:cpu,cpuacct:/docker/x".
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const std::string group = line.substr(second + 1);
    if (controllers == ",,") cores = smaller_quota(cores, walk_up(root, group, quota_v2));
    if (controllers.find(",cpu,") != std::string::npos) {
      cores = smaller_quota(cores, walk_up(root + "/cpu", group, quota_v1));
    }
  }
  return cores;
}

std::uint32_t allowed_cores() {
  std::ifstream file("/proc/self/cgroup");
  std::stringstream groups;
  groups << file.rdbuf();
  const std::uint32_t quota = quota_cores("/sys/fs/cgroup", groups.str());
  return smaller_quota(affinity_cores(), quota);
}

}  // namespace shoal::tools
