// SPDX-License-Identifier: Apache-2.0
// The problem: a program's own arguments and the runtime's share a command line, and a misspelt
// option must not be ignored. Offered: one table gives each option its flag (--shoal-…), its
// environment variable (SHOAL_…), its key in a file, its help and its default. A flag wins over the
// environment, and that over the file.
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
  bool help = false;                   ///< --shoal-help was given: print `options_help` and end
  std::string values;  ///< if --shoal-values was given: each option's value and where it is from
  std::vector<std::string> warnings;  ///< about variables that look like options and are none
};

/// Reads flags, environment and the file that --shoal-config names. An unknown --shoal-… flag, a
/// key of the file, or a value is an error that names the nearest.
comm::Expected<ParsedOptions> parse_options(int argc, const char* const* argv);
std::string options_help();
comm::Level log_level(const Options& options);

}  // namespace shoal::runtime
