// SPDX-License-Identifier: Apache-2.0
// The problem: lookups, barriers and the end of the job share one socket and must not block one
// another. Offered: the socket of a Bootstrap, with a thread that reads it and completes whoever
// waits.
#pragma once

#include <shoal/comm/bootstrap/bootstrap.hpp>
#include <shoal/comm/descriptor.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace shoal::comm {

/// Any thread.
class Bootstrap::Connection {
 public:
  Connection(const Launch& launch, Identity identity, StopHandler on_stop);
  ~Connection();

  /// Connects, proves itself, says hello, waits for the welcome. Once, first.
  Expected<void> open(const Launch& launch);

  ProcessId process() const noexcept { return process_; }
  const JobLayout& layout() const noexcept { return layout_; }
  Share share() const noexcept { return share_; }
  bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }

  bool ending();
  void on_report(std::function<void()> ask);
  /// Async-signal-safe; see Bootstrap.
  void interrupted(int signal_number) noexcept;
  /// As Bootstrap::failed.
  void failed(std::string_view text, int code);
  Expected<void> send(std::span<const std::byte> frame);
  Expected<std::vector<std::byte>> lookup(PeId pe, Nanoseconds deadline);
  Expected<void> barrier(std::string_view name, Nanoseconds deadline);

 private:
  struct Lookup {
    unsigned waiters = 0;
    std::optional<std::vector<std::byte>> address;
  };
  struct Force {
    Nanoseconds time;
    int code;
  };
  struct Stop {
    int code;
    std::string reason;
  };

  Expected<Descriptor> authenticate(const Launch& launch);
  void read_until_the_end();
  void tell_of_interrupt(int signal_number);
  [[noreturn]] void end_by_force();
  /// False: nothing more is to come.
  bool read_frames(FrameReader& frames);
  Expected<void> receive(const WireFrame& frame);
  void end(const Stop& stop);
  /// No answer will come any more: waits end. `mutex_` is held.
  bool cut() const noexcept { return stop_ && !stop_->reason.empty(); }
  Error ended_error() const;

  const ProcessId process_;
  const bool hosted_;
  const Identity identity_;
  const StopHandler on_stop_;
  Descriptor socket_;
  Descriptor wake_;  // eventfd: the destructor has been called, or a signal has come
  std::atomic<bool> ending_{false};
  std::atomic<int> signal_{0};
  JobLayout layout_;
  Share share_;
  std::atomic<bool> lost_{false};  // the other end closed it
  std::optional<Force> ends_by_;   // the internal thread's
  std::thread thread_;

  std::mutex send_mutex_;  // held while a frame is written
  std::mutex mutex_;       // guards what follows
  std::condition_variable changed_;
  bool welcomed_ = false;
  std::function<void()> ask_report_;
  std::optional<Stop> stop_;  // the latest; waits go on through an orderly one, which has no reason
  std::map<PeId, Lookup> lookups_;
  std::map<std::string, bool, std::less<>> barriers_;  // true: released
};

}  // namespace shoal::comm
