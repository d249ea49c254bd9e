// SPDX-License-Identifier: Apache-2.0
// The problem: a process that a memory limit of its control group ends is killed by SIGKILL, which
// says nothing. Offered: what the launcher's own group, which its processes share unless they leave
// it, says of that.
#pragma once

#include <cstdint>
#include <string>

namespace shoal::tools {

class ControlGroup {
 public:
  ControlGroup();
  /// "; the control group ran out of memory (limit 200 MiB)" if it has had to kill since the last
  /// call; else nothing.
  std::string describe_new_kills();

 private:
  struct Version;
  static const Version kVersions[];
  std::uint64_t kills() const;

  const Version* version_ = nullptr;  // none: no group with a memory limit was found
  std::string folder_;
  std::uint64_t kills_ = 0;
};

}  // namespace shoal::tools
