// SPDX-License-Identifier: Apache-2.0
// The problem: a process must know who started it, and its secret must not be seen by others or
// inherited by programs that it starts. Offered: what the launcher handed over, taken once.
//
//   SHOAL_RENDEZVOUS  host:port of the rendezvous; absent: the process was started alone
//   SHOAL_SECRET_FD   a pipe that holds the 32 bytes of the job's secret
//   SHOAL_RANK, SHOAL_PROCESSES, SHOAL_PES (of this process)
//
// Under PMIx, SHOAL_RANK and SHOAL_PROCESSES are set once the process has joined.
#pragma once

#include <shoal/comm/error.hpp>
#include <shoal/comm/ids.hpp>
#include <shoal/comm/secret.hpp>

#include <cstdint>
#include <optional>
#include <string>

namespace shoal::comm {

struct Launch {
  std::string rendezvous;
  ProcessId process{};
  std::uint32_t processes = 1;
  std::uint32_t pes = 1;
  Secret secret;
  bool hosted = false;  ///< process 0 runs the rendezvous, and no launcher of ours ends processes
};

/// Stays true after `take_launch`.
bool started_by_launcher() noexcept;

/// What to tell a user whose processes were started together, but by a launcher that does not say
/// so in a way that Shoal understands, so that each is a job of its own. In the first of them
/// only.
std::optional<std::string> lone_start_warning();

/// The PEs of this process that the launcher chose; none when started alone.
std::optional<std::uint32_t> pes_from_launcher();

/// Reads the environment and the pipe, closes the pipe and unsets SHOAL_RENDEZVOUS and
/// SHOAL_SECRET_FD, so that what this process starts runs alone. Call once, before other threads
/// use the environment.
Expected<Launch> take_launch();

}  // namespace shoal::comm
