// SPDX-License-Identifier: Apache-2.0
#include <tools/allowed_cores.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <stdlib.h>

using shoal::tools::quota_cores;

namespace {

/// A folder that looks like /sys/fs/cgroup.
struct Groups {
  Groups() {
    std::string pattern = (std::filesystem::temp_directory_path() / "cgroup-XXXXXX").string();
    REQUIRE(::mkdtemp(pattern.data()) != nullptr);
    root = pattern;
  }
  ~Groups() { std::filesystem::remove_all(root); }
  void write(const std::string& file, const std::string& text) const {
    const auto path = std::filesystem::path(root + file);
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  std::string root;
};

}  // namespace

TEST_CASE("a quota of control groups, version 2, is that of the tightest group above") {
  const Groups groups;
  groups.write("/a/b/cpu.max", "max 100000");
  groups.write("/a/cpu.max", "350000 100000");
  CHECK(quota_cores(groups.root, "0::/a/b\n") == 3);
  groups.write("/cpu.max", "200000 100000");
  CHECK(quota_cores(groups.root, "0::/a/b\n") == 2);
  groups.write("/a/b/cpu.max", "50000 100000");
  CHECK(quota_cores(groups.root, "0::/a/b\n") == 1);
}

TEST_CASE("a quota of control groups, version 1, is read from the cpu controller") {
  const Groups groups;
  groups.write("/cpu/docker/x/cpu.cfs_quota_us", "400000");
  groups.write("/cpu/docker/x/cpu.cfs_period_us", "100000");
  CHECK(quota_cores(groups.root, "3:memory:/m\n4:cpu,cpuacct:/docker/x\n") == 4);
  groups.write("/cpu/docker/x/cpu.cfs_quota_us", "-1");
  CHECK(quota_cores(groups.root, "4:cpu,cpuacct:/docker/x\n") == 0);
}

TEST_CASE("without groups, or with lines that do not parse, there is no quota") {
  CHECK(quota_cores("/nonexistent", "0::/a\n") == 0);
  CHECK(quota_cores("/nonexistent", "nonsense\n::\n\n") == 0);
  CHECK(shoal::tools::allowed_cores() >= 1);
}
