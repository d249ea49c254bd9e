// SPDX-License-Identifier: Apache-2.0
// The exit codes that the runtime itself chooses; a program's own come from World::exit. A failed
// CHECK ends with comm::kCheckFailed, a signal with 128 plus its number, as a shell has it.
#pragma once

namespace shoal::runtime {

inline constexpr int kExitException = 1;    ///< an exception left an entry that was sent to
inline constexpr int kExitUsage = 2;        ///< an option of the command line is wrong
inline constexpr int kExitStartFailed = 3;  ///< the job could not be formed
inline constexpr int kExitPeerLost = 4;     ///< another process cannot be reached any more
inline constexpr int kExitStuck = 124;      ///< deadlock, or no progress within the time allowed
inline constexpr int kExitInterrupted = 130;

}  // namespace shoal::runtime
