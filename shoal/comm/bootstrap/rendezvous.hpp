// SPDX-License-Identifier: Apache-2.0
// The problem: the processes of a job know neither each other nor whom to trust. Offered: the
// meeting point that the launcher runs in its own loop: it listens on loopback, proves every
// connection, and feeds the JobTable. It has no thread and never blocks; poll `fd()` for reading
// until `deadline()`, then call `step()`.
//
// Limits before a proof: kProofSize bytes a connection, kProofLimit of time, kMaxUnproven
// connections beside one a missing process (the oldest gives way, unless its proof has come: an
// honest one takes a millisecond, some more under a flood). What is refused costs at most one log
// line a second. Once all processes have joined, nothing listens any more.
#pragma once

#include <shoal/comm/bootstrap/handshake.hpp>
#include <shoal/comm/bootstrap/job_table.hpp>
#include <shoal/comm/bootstrap/wire.hpp>
#include <shoal/comm/clock.hpp>
#include <shoal/comm/descriptor.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::comm {

/// One thread.
class Rendezvous {
  struct Key {};  // who has one may construct

 public:
  struct Options {
    JobTable::Options job;
    std::string host = "127.0.0.1";  ///< a numeric address; loopback unless the user says otherwise
    const Clock* clock = &steady_clock();
  };
  static constexpr Nanoseconds kProofLimit = 5 * kSecond;
  static constexpr std::size_t kMaxUnproven = 256;
  /// What may wait for a process that does not read; more and it is cut off.
  static constexpr std::size_t kMaxUnsent = std::size_t{64} << 20U;

  static Expected<std::unique_ptr<Rendezvous>> listen(Options options, const Secret& secret);

  Rendezvous(Key key, Options options, const Secret& secret, std::uint64_t job_id);

  /// "127.0.0.1:40123", for SHOAL_RENDEZVOUS. The kernel chose the port.
  const std::string& address() const noexcept { return address_; }
  int fd() const noexcept { return epoll_.get(); }
  std::optional<Nanoseconds> deadline() const noexcept;
  /// Serves what is at hand. True if anything was.
  bool step();
  /// Reads all that `process` has sent so far; for when it is known to be dead.
  void drain(ProcessId process);
  /// Tells all connected processes how the job ends.
  void stop(int code, const std::string& reason);

  /// Processes whose connections stand.
  std::size_t connected() const noexcept { return proven_.size(); }
  const JobTable& job() const noexcept { return *table_; }
  void ask_report() { table_->ask_report(options_.clock->now()); }
  std::optional<std::string> take_report() { return table_->take_report(); }
  std::vector<std::string> take_news() { return table_->take_news(); }

 private:
  struct Connection {
    Descriptor socket;
    Nanoseconds proof_deadline = 0;
    std::optional<ServerHandshake> handshake;  // until it is proved
    ProcessId process{};
    FrameReader frames;
    std::vector<std::byte> unsent;
    bool wants_to_write = false;
  };
  using Id = std::uint64_t;
  using Connections = std::map<Id, Connection>;  // ids grow: the first unproven one is the oldest

  Expected<void> open();
  void accept_all();
  void admit(Descriptor socket);
  void evict_oldest_unproven();
  /// False: the connection is at its end.
  bool read(Connection& connection);
  bool read_proof(Connection& connection);
  bool read_frames(Connection& connection);
  bool flush(Id id, Connection& connection);
  void send(ProcessId process, std::span<const std::byte> frame);
  void drop(Id id);
  void refuse(const char* reason);
  void expire(Nanoseconds now);

  Options options_;
  Secret secret_;
  std::unique_ptr<JobTable> table_;
  Descriptor epoll_;
  Descriptor listener_;
  std::string address_;
  Connections connections_;
  std::map<ProcessId, Id> proven_;
  Id next_id_ = 1;             // 0 stands for the listener
  std::uint64_t refused_ = 0;  // since the last log line
  Nanoseconds next_refusal_line_ = 0;
};

}  // namespace shoal::comm
