// SPDX-License-Identifier: Apache-2.0
// The problem: what goes wrong once in a million orders of messages must be found, and found again.
// Offered: a whole job in one thread under virtual time: the real PEs, messages and envelopes over
// the simulated network, every choice drawn from one seed. The same seed gives the same run, which
// the event hash proves.
#pragma once

#include <shoal/comm/simulated/network.hpp>
#include <shoal/runtime/pe.hpp>

#include <memory>
#include <string>
#include <vector>

namespace shoal::runtime {

struct SimulationOptions {
  comm::SimulatedOptions network;
  comm::Nanoseconds hang_timeout = 60 * comm::kSecond;  ///< virtual
  std::uint64_t most_events = 100'000'000;  ///< more than this is taken for a run that never ends
};

struct SimulationResult {
  int exit_code = 0;
  std::uint64_t event_hash = 0;
  std::uint64_t events = 0;
  std::uint64_t messages = 0;     ///< messages and holds that were processed
  comm::Nanoseconds time = 0;     ///< virtual, at the end
  std::vector<std::string> said;  ///< lines that a real job would have put on the terminal
};

/// Belongs to one thread. One run.
class Simulation final : private Host {
 public:
  Simulation(const SimulationOptions& options, Layer& layer);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  SimulationResult run();
  /// Bytes that the PEs hold: their objects, pools and the layer's state left out.
  static constexpr std::size_t bytes_per_pe() noexcept { return sizeof(Pe) + sizeof(void*); }

 private:
  void wake(Pe& pe) noexcept override;
  void timer_set(Pe& pe, comm::Nanoseconds when) noexcept override;
  void fail(int code, const std::string& text) override;
  void say(const std::string& line) override { result_.said.push_back(line); }

  Pe& at(comm::PeId pe) noexcept { return *pes_[number(pe)]; }
  void run_until_idle(Pe& pe);
  bool all_stopped();

  SimulationOptions options_;
  comm::SimulatedNetwork network_;
  std::vector<Process> processes_;
  std::vector<std::unique_ptr<Pe>> pes_;
  std::vector<Pe*> pointers_;
  std::uint32_t first_running_ = 0;  // all PEs before it have stopped
  bool failed_ = false;
  SimulationResult result_;
};

}  // namespace shoal::runtime
