// SPDX-License-Identifier: Apache-2.0
// What `shoal run` was asked to do, after its command line has been checked.
#pragma once

#include <shoal/comm/clock.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::tools {

inline constexpr std::uint32_t kMostProcesses = 4096;  // on one host
inline constexpr std::uint32_t kMostPesPerProcess = 4096;

struct RunOptions {
  std::vector<std::uint32_t> pes;        ///< of each process; its size is their number
  bool prefix = false;                   ///< "[rank] " before each line
  std::vector<std::string> environment;  ///< "NAME=value"
  comm::Nanoseconds grace = 2 * comm::kSecond;
  comm::Nanoseconds start_limit = 60 * comm::kSecond;
  std::vector<std::string> command;  ///< the program and its arguments
};

}  // namespace shoal::tools
