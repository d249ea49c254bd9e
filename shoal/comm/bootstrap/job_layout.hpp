// SPDX-License-Identifier: Apache-2.0
// The problem: everyone must agree which process runs which PE, without a table per PE. Offered:
// the layout of a job: O(1) when all processes have equally many PEs and share a host, one integer
// a process otherwise.
#pragma once

#include <shoal/comm/bootstrap/wire.hpp>
#include <shoal/comm/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace shoal::comm {

/// Any thread: it does not change once the job stands.
class JobLayout {
 public:
  /// One process that runs `pes` PEs.
  explicit JobLayout(std::uint32_t pes = 1) : pes_of_first_(pes), total_pes_(pes) {}
  /// `pes[k]` PEs in process k (all of them > 0), which stands on host `hosts[k]`.
  JobLayout(std::uint64_t id, std::span<const std::uint32_t> pes,
            std::span<const std::uint32_t> hosts);

  /// Random, the same in all processes; 0 when alone.
  std::uint64_t id() const noexcept { return id_; }
  std::uint32_t processes() const noexcept { return processes_; }
  std::uint32_t total_pes() const noexcept { return total_pes_; }
  PeId first_pe(ProcessId process) const noexcept;
  std::uint32_t pes(ProcessId process) const noexcept;
  ProcessId process_of(PeId pe) const noexcept;
  /// Whether all processes may reach each other by shared memory.
  bool one_host() const noexcept { return hosts_.empty(); }
  /// Whether two processes may reach each other by shared memory.
  bool same_host(ProcessId a, ProcessId b) const noexcept;

  /// The payload of a Welcome, and back.
  void write(FrameWriter& writer) const;
  static Expected<JobLayout> read(PayloadReader& reader);

 private:
  /// Keeps what is not the same everywhere.
  void set_lists(std::span<const std::uint32_t> pes, std::span<const std::uint32_t> hosts);

  std::uint64_t id_ = 0;
  std::uint32_t processes_ = 1;
  std::uint32_t pes_of_first_;
  std::uint32_t total_pes_;
  std::vector<std::uint32_t>
      first_pes_;  // of each process, then the total; empty: all have pes_of_first_
  std::vector<std::uint32_t> hosts_;  // empty: one host
};

/// Where a process stands among those of its host that may use the same processors.
struct Share {
  std::uint32_t before = 0;  ///< PEs of those of lower rank
  std::uint32_t total = 0;   ///< PEs of all of them
};

/// The most processes and PEs that a job may have.
inline constexpr std::uint32_t kMaxProcesses = 1U << 16U;
inline constexpr std::uint32_t kMaxPes = 1U << 24U;

}  // namespace shoal::comm
