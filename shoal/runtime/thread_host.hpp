// SPDX-License-Identifier: Apache-2.0
// The problem: the PEs of a process need threads that poll while there is work, sleep when there is
// none, lose no wake-up, and work when there are more of them than cores. Offered: the host that
// runs a process's PEs on threads, the first on the calling one.
//
// Idle: poll for `spin` (not at all beyond the cores: yield instead), then announce sleep, look
// once more at inbox and port, and poll(2) on their descriptors until something comes or the next
// timer is due.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/comm/descriptor.hpp>
#include <shoal/runtime/pe.hpp>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace shoal::runtime {

struct ThreadSettings {
  comm::Nanoseconds spin = comm::kMillisecond;
  bool oversubscribed = false;  ///< more PEs on this host than processors
  std::vector<int> processors;  ///< where PE i of this process is bound; empty: nowhere
  comm::Nanoseconds watch = 5 * comm::kSecond;  ///< an entry that runs longer is named, once
  /// Opens the port of a PE on its thread.
  std::function<comm::Expected<std::unique_ptr<comm::Port>>(Pe&)> open_port;
  /// The program has ended, on PE 0's process.
  std::function<void(int code)> ended;
  /// Waits for the other processes, between closing ports and destroying them.
  std::function<void(comm::Nanoseconds deadline)> closing_barrier;
  /// A sign of life, each `beat_period`, on the watching thread; may be empty.
  std::function<void(std::uint64_t steps)> beat;
  comm::Nanoseconds beat_period = comm::kSecond;
  /// What the PEs wait for, after request_report; on the watching thread.
  std::function<void(const std::string& text)> report;
  /// The job cannot go on: tell the launcher.
  std::function<void(int code, const std::string& text)> failed;
};

class ThreadHost final : public Host {
 public:
  ThreadHost(Process& process, ThreadSettings settings);
  ~ThreadHost() override;
  ThreadHost(const ThreadHost&) = delete;
  ThreadHost& operator=(const ThreadHost&) = delete;

  /// Runs until the program ends; returns its exit code.
  int run();
  /// Any thread, and signal handlers: the PEs stop at their next step; run() returns `code`.
  void request_stop(int code) noexcept;

  /// Any thread, and signal handlers: `settings.report` is called soon; at most twice a second.
  void request_report() noexcept;

  void wake(Pe& pe) noexcept override;
  void timer_set(Pe&, comm::Nanoseconds) noexcept override {}
  void fail(int code, const std::string& text) override;
  void say(const std::string& line) override;

 private:
  class Place;  // what the host keeps for each PE
  void run_pe(Place& place);
  void loop(Place& place);
  void sleep(Place& place);
  struct Seen;  // how long a PE has been in an entry
  void watch();
  void look_for_long_entries(std::vector<Seen>& seen, comm::Nanoseconds now);
  std::uint64_t steps() const noexcept;
  std::string gather_report(const std::vector<Seen>& seen);
  void answer(Place& place);
  bool stopping(const Pe& pe) const noexcept {
    return pe.stopped() || stop_code_.load(std::memory_order_relaxed) != kRunning;
  }
  static constexpr int kRunning = -1;

  Process& process_;
  ThreadSettings settings_;
  std::vector<std::unique_ptr<Place>> places_;
  // relaxed: a PE that sees it a step later stops a step later; the wake-up that follows orders the
  // rest
  std::atomic<int> stop_code_{kRunning};
  std::atomic<unsigned> closed_{0};  // PEs that have closed their ports; acq_rel
  std::atomic<bool> may_destroy_{false};
  comm::Descriptor watch_wake_;  // eventfd: `watching_` or `report_wanted_` has changed
  std::atomic<bool> watching_{true};
  std::atomic<bool> report_wanted_{false};
  std::mutex report_mutex_;  // guards each Place::report
  std::condition_variable reported_;
};

}  // namespace shoal::runtime
