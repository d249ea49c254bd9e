// SPDX-License-Identifier: Apache-2.0
// The problem: a program's own arguments and the runtime's share a command line, and a misspelt
// option must not be ignored. Offered: one table gives each option its flag (--shoal-…), its
// environment variable (SHOAL_…), its help and its default; a flag wins over the environment.
#pragma once

#include <shoal/comm/error.hpp>
#include <shoal/comm/log.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace shoal::runtime {

struct Options {
  std::uint32_t pes = 0;         ///< PEs of this process; 0: the launcher's choice, or one a core
  std::string bind = "auto";     ///< auto, none
  std::uint32_t spin_us = 1000;  ///< microseconds an idle PE polls before it sleeps
  std::uint32_t fiber_stack_kib = 64;  ///< KiB
  double hang_timeout_s = 60;          ///< seconds, 0.001 to 1e9
  double heartbeat_s = 5;  ///< seconds; a process that is silent for 2 of them is told of
  double watch_s = 5;      ///< seconds an entry may run before a line says so, 0.001 to 1e9
  std::uint64_t seed = 1;
  std::string log = "warning";  ///< error, warning, info, debug
};

struct ParsedOptions {
  Options options;
  std::vector<std::string> arguments;  ///< what is left for the program, its name first
  bool help = false;                   ///< --shoal-help was given: print `help_text` and end
};

/// Reads flags and environment. An unknown --shoal-… flag or SHOAL_ value is an error that names
/// the nearest.
comm::Expected<ParsedOptions> parse_options(int argc, const char* const* argv);
std::string options_help();
comm::Level log_level(const Options& options);

}  // namespace shoal::runtime
