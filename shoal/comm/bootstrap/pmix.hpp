// SPDX-License-Identifier: Apache-2.0
// The problem: mpirun, prterun and srun start processes themselves and tell them of each other by
// PMIx, whose library is not on every machine. Offered: the few calls that a start needs, on a
// library that is loaded when such a launcher is there.
#pragma once

#include <shoal/comm/error.hpp>
#include <shoal/comm/ids.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace shoal::comm {

/// This process's place in a job that a PMIx launcher started. One thread; one a process.
class Pmix {
  struct Library;
  struct Key {};  // who has one may construct

 public:
  /// A PMIx launcher started this process, and `init` has not been called.
  static bool present() noexcept;
  /// Loads libpmix.so.2 and joins. What this process starts later does not see the launcher any
  /// more.
  static Expected<std::unique_ptr<Pmix>> init();

  Pmix(Key key, std::unique_ptr<Library> library);
  Pmix(const Pmix&) = delete;
  Pmix& operator=(const Pmix&) = delete;
  ~Pmix();

  ProcessId process() const noexcept;
  std::uint32_t processes() const noexcept { return processes_; }
  /// Those of the job on this host.
  std::uint32_t local_processes() const noexcept { return local_processes_; }

  /// For the others, once `exchange` has been called everywhere.
  Expected<void> put(const char* key, const std::string& value);
  /// Waits until all processes have called it.
  Expected<void> exchange();
  Expected<std::string> get(ProcessId process, const char* key);

 private:
  Expected<std::uint32_t> job_number(const char* key);

  std::unique_ptr<Library> library_;
  std::uint32_t processes_ = 1;
  std::uint32_t local_processes_ = 1;
};

}  // namespace shoal::comm
