// SPDX-License-Identifier: Apache-2.0
// `shoal doctor`: what of this machine would stand in a job's way, and what to do about it.
#pragma once

namespace shoal::tools {

/// Prints a line for each check. Returns 0, or 1 if something forbids jobs of several processes.
int examine_machine();

}  // namespace shoal::tools
