// SPDX-License-Identifier: Apache-2.0
#include <tools/control_group.hpp>

#include <fmt/format.h>

#include <fstream>
#include <string_view>
#include <utility>

namespace shoal::tools {

/// Where a version of the kernel's interface keeps what is asked.
struct ControlGroup::Version {
  std::string_view line;   ///< of /proc/self/cgroup, up to the path
  std::string_view mount;  ///< by convention
  std::string_view events;
  std::string_view limit;
};
const ControlGroup::Version ControlGroup::kVersions[] = {
    {":memory:", "/sys/fs/cgroup/memory", "memory.oom_control", "memory.limit_in_bytes"},
    {"0::", "/sys/fs/cgroup", "memory.events", "memory.max"},
};

ControlGroup::ControlGroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; version_ == nullptr && std::getline(file, line);) {
    for (const Version& version : kVersions) {
      const std::size_t at = line.find(version.line);
      if (at == std::string::npos) continue;
      const std::string folder = std::string(version.mount) + line.substr(at + version.line.size());
      if (!std::ifstream(fmt::format("{}/{}", folder, version.events))) continue;
      version_ = &version;
      folder_ = folder;
    }
  }
  kills_ = kills();
}

std::uint64_t ControlGroup::kills() const {
  if (version_ == nullptr) return 0;
  std::ifstream file(fmt::format("{}/{}", folder_, version_->events));
  std::string name;
  for (std::uint64_t count = 0; file >> name >> count;) {
    if (name == "oom_kill") return count;
  }
  return 0;
}

std::string ControlGroup::describe_new_kills() {
  const std::uint64_t before = std::exchange(kills_, kills());
  if (kills_ <= before) return "";
  std::uint64_t limit = 0;
  std::ifstream(fmt::format("{}/{}", folder_, version_->limit)) >> limit;
  return fmt::format("; the control group ran out of memory (limit {} MiB)", limit >> 20U);
}

}  // namespace shoal::tools
