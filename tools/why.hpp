// SPDX-License-Identifier: Apache-2.0
// `shoal why`: what a running job waits for.
#pragma once

namespace shoal::tools {

/// Of the job with that process id, as its launcher has it (process 0, where another launcher
/// started it); 0: of the only one that runs. Returns the exit code.
int tell_why(int process);

}  // namespace shoal::tools
