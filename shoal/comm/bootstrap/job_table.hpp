// SPDX-License-Identifier: Apache-2.0
// The problem: the processes of a job must find out whether they fit together, where their PEs are,
// when all have reached a point, and how the job ends. Offered: the rendezvous' knowledge of the
// job, fed with frames of processes that have proved themselves; it answers through `send` and
// knows no sockets.
//
// Limits: one address a PE of at most kMaxAddress; a parked get a process and PE; kMaxBarriers
// barriers at a time. A process that breaks them, or whose frames do not parse, fails the job.
#pragma once

#include <shoal/comm/bootstrap/identity.hpp>
#include <shoal/comm/bootstrap/job_layout.hpp>
#include <shoal/comm/bootstrap/wire.hpp>
#include <shoal/comm/clock.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shoal::comm {

/// How a job ended; the first reason wins.
struct Verdict {
  enum class Kind { exited, failed };
  Kind kind;
  std::optional<ProcessId>
      process;  ///< who decided or failed; none: the job as a whole was refused
  int code;
  std::string reason;
};

/// One thread.
class JobTable {
 public:
  struct Options {
    std::uint32_t processes = 1;
    std::vector<std::uint32_t> pes;  ///< what each process was told to have; empty: nothing
    bool leaving_fails = false;      ///< who leaves before the end has died: nobody else looks
    Nanoseconds start_limit = 60 * kSecond;  ///< from the first hello until all have said theirs
  };
  using Send = std::function<void(ProcessId to, std::span<const std::byte> frame)>;
  static constexpr std::size_t kMaxBarriers = 1024;
  static constexpr Nanoseconds kReportLimit = 2 * kSecond;
  static constexpr int kLostCode = 1;  ///< of a job of which a process died unseen

  JobTable(Options options, std::uint64_t job_id, Send send);

  /// False: there is no such process, or it is connected already.
  bool arrive(ProcessId process);
  void leave(ProcessId process);
  void receive(ProcessId process, const WireFrame& frame, Nanoseconds now);
  /// The stream of `process` does not parse.
  void corrupt(ProcessId process, const Error& error);
  /// Ends waits that reached their limit; due at `deadline()`.
  void tick(Nanoseconds now);
  std::optional<Nanoseconds> deadline() const noexcept;

  /// Asks all processes what they wait for. Again before `take_report` has given it: no effect.
  void ask_report(Nanoseconds now);
  /// What they said, once all have, or once kReportLimit is over; once.
  std::optional<std::string> take_report();
  /// Lines about processes that are not heard of, or are again, since the last call.
  std::vector<std::string> take_news() { return std::exchange(news_, {}); }
  /// "process 2 (pid 4711 on n1)".
  std::string describe(ProcessId process) const;
  bool joined(ProcessId process) const noexcept { return members_[number(process)].joined; }
  bool complete() const noexcept { return joined_ == options_.processes; }
  std::uint64_t steps(ProcessId process) const noexcept { return members_[number(process)].steps; }
  const std::optional<Verdict>& verdict() const noexcept { return verdict_; }

 private:
  struct Member {
    bool connected = false;
    bool joined = false;
    bool listed = false;  // its entries have come
    Identity identity;
    std::uint64_t steps = 0;
    Nanoseconds heard = 0;
    bool silent = false;  // it was told that nothing is heard of it
    std::optional<std::string> report;
  };
  struct Mismatch {
    ProcessId first;
    ProcessId second;
    std::string text;
    Nanoseconds deadline;
  };
  struct Barrier {
    std::vector<bool> reached;
    std::uint32_t count = 0;
  };

  Named named(ProcessId process) const { return {process, members_[number(process)].identity}; }
  void fail(std::optional<ProcessId> process, int code, std::string reason);
  void hello(ProcessId process, const WireFrame& frame, Nanoseconds now);
  void compare(ProcessId process, Nanoseconds now);
  std::string pe_difference(ProcessId first, ProcessId second) const;
  void entry_list(ProcessId process, const WireFrame& frame);
  void conclude_mismatch();
  void welcome_all();
  std::vector<Share> share_processors();
  void hear(ProcessId process, Nanoseconds now);
  void look_for_silent(Nanoseconds now);
  bool take_in_report(Member& member, PayloadReader& reader);
  /// What only a complete job may ask. False: the frame does not parse or breaks a limit.
  bool serve(ProcessId process, const WireFrame& frame);
  bool put_address(ProcessId process, PayloadReader& reader);
  bool get_address(ProcessId process, PayloadReader& reader);
  void send_address(ProcessId process, PeId pe);
  bool barrier(ProcessId process, PayloadReader& reader);

  Options options_;
  std::uint64_t job_id_;
  Send send_;
  std::vector<Member> members_;
  std::uint32_t joined_ = 0;
  std::optional<Nanoseconds> start_deadline_;
  std::optional<Mismatch> mismatch_;
  std::optional<Verdict> verdict_;
  std::optional<JobLayout> layout_;
  std::unordered_map<std::uint32_t, std::vector<std::byte>> addresses_;
  std::unordered_map<std::uint32_t, std::vector<ProcessId>> parked_;
  std::map<std::string, Barrier, std::less<>> barriers_;
  std::optional<Nanoseconds> next_look_;        // for silent processes
  std::optional<Nanoseconds> report_deadline_;  // a report was asked for
  std::uint32_t reports_missing_ = 0;
  std::vector<std::string> news_;
};

}  // namespace shoal::comm
