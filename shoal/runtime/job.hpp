// SPDX-License-Identifier: Apache-2.0
// The problem: from main to running PEs lie options, processors, the other processes and a
// transport, and on the way back all of it must end in order. Offered: one call that runs a layer's
// program as a job, alone or under a launcher.
#pragma once

#include <shoal/runtime/layer.hpp>
#include <shoal/runtime/options.hpp>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace shoal::runtime {

struct JobSettings {
  Options options;
  std::string values;                 ///< of the options, to be told at start; empty: not
  std::vector<std::string> warnings;  ///< about them, told by process 0
  Layer* layer = nullptr;
  std::array<std::byte, 32> entry_digest{};  ///< must be the same in all processes
  std::string entries;                       ///< what a difference is explained with
};

/// Runs until the program ends; returns its exit code. Says on stderr why a job could not start or
/// go on. The end is in this order: actors, runtime, transport.
int run_job(const JobSettings& settings);

}  // namespace shoal::runtime
