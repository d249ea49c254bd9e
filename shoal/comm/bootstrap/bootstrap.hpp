// SPDX-License-Identifier: Apache-2.0
// The problem: a process needs to join its job, learn its place, trade addresses, wait for the
// others, and hear of the job's end, before and beside any transport. Offered: one connection to
// the rendezvous, shared by all threads of the process; an internal thread reads it and sleeps
// otherwise. A process that was started alone has the same object without a connection.
#pragma once

#include <shoal/comm/address_book.hpp>
#include <shoal/comm/bootstrap/identity.hpp>
#include <shoal/comm/bootstrap/job_layout.hpp>
#include <shoal/comm/bootstrap/launch.hpp>
#include <shoal/comm/clock.hpp>

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace shoal::comm {

class PmixStart;

/// Any thread.
class Bootstrap final : public AddressBook {
  class Connection;

 public:
  /// How the job ends: by exit(code) of some process (an empty reason), by a failure or signal
  /// elsewhere, or because the launcher is gone (kLauncherGone). Called once, on the internal
  /// thread, perhaps before `connect` returns; it must make this process end and may not destroy
  /// the Bootstrap.
  using StopHandler = std::function<void(int code, const std::string& reason)>;
  static constexpr int kLauncherGone = 1;
  /// How long `lookup` waits for an address that nobody has published.
  static constexpr Nanoseconds kLookupLimit = 60 * kSecond;
  /// Under PMIx, how long after the job's end a process may still run before it is ended by force.
  static constexpr Nanoseconds kForceLimit = 5 * kSecond;

  /// Under the launcher, or one that speaks PMIx: joins, and waits until the whole job has. Fails
  /// with `mismatch` if processes differ (the launcher, or process 0, prints why). Otherwise: a job
  /// of this process.
  static Expected<std::unique_ptr<Bootstrap>> connect(Identity identity, StopHandler on_stop);
  static Expected<std::unique_ptr<Bootstrap>> connect(const Launch& launch, Identity identity,
                                                      StopHandler on_stop);
  /// For `connect`; without a connection the process is alone, with `pes` PEs.
  Bootstrap(std::unique_ptr<Connection> connection, std::uint32_t pes,
            std::unique_ptr<PmixStart> pmix);
  ~Bootstrap() override;

  ProcessId process() const noexcept;
  const JobLayout& layout() const noexcept;
  Share share() const noexcept;
  bool alone() const noexcept;
  /// Process 0 runs the rendezvous: there is no launcher of ours.
  bool hosted() const noexcept;
  /// The job ends because process 0, which ran the rendezvous, is gone. True before the stop
  /// handler is called.
  bool host_lost() const noexcept;

  Expected<void> publish(PeId pe, std::span<const std::byte> address) override;
  Expected<std::vector<std::byte>> lookup(PeId pe) override;

  /// Waits until every process has called it with this name, or until `deadline` of the steady
  /// clock. A name may be used again once it has been released. Works on after `exit`, for the
  /// closing of connections.
  Expected<void> barrier(std::string_view name, Nanoseconds deadline);

  /// The program has decided the job's end: all processes hear `code`, and the launcher returns it.
  /// The first call of the job wins. Does not end this process.
  void exit(int code);
  /// This process cannot go on; the launcher prints the text (up to kMaxReason) and ends the job.
  void failed(std::string_view text, int code = 1);
  /// The job was told to end: what fails from now on is no news.
  bool ending() const;
  /// This process was told to end by a signal: the job hears of it, and ends. Async-signal-safe.
  void interrupted(int signal_number) noexcept;
  /// `ask` is called on the internal thread when the job wants to know what this process waits for:
  /// it must not block, and lead to a call of `report`. An empty function: no more.
  void on_report(std::function<void()> ask);
  void report(std::string_view text);
  /// Scheduler steps done so far, for whoever looks for stuck processes.
  void heartbeat(std::uint64_t steps);

 private:
  static Expected<std::unique_ptr<Bootstrap>> open(const Launch& launch, Identity identity,
                                                   StopHandler on_stop,
                                                   std::unique_ptr<PmixStart> pmix);

  std::unique_ptr<PmixStart> pmix_;         // before the connection: it may serve it
  std::unique_ptr<Connection> connection_;  // none: alone
  JobLayout alone_layout_;
  class LocalBook;
  std::unique_ptr<LocalBook> book_;  // alone only
};

}  // namespace shoal::comm
