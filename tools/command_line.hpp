// SPDX-License-Identifier: Apache-2.0
// The command line of `shoal`; the only place that knows CLI11, which is slow to compile.
#pragma once

namespace shoal::tools {

/// Parses, runs the subcommand, and returns the exit code; 2 for a wrong command line.
int run_command_line(int argc, char** argv);

}  // namespace shoal::tools
