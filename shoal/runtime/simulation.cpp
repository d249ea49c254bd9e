// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/exit_codes.hpp>
#include <shoal/runtime/simulation.hpp>

#include <utility>

namespace shoal::runtime {

namespace {
// Steps after which a PE that is still busy lets time go on, and what they are taken to last.
constexpr unsigned kStepsPerTurn = 256;
constexpr comm::Nanoseconds kTurn = kStepsPerTurn * comm::kMicrosecond;
// From one PE to another of its process, which sleeps.
constexpr comm::Nanoseconds kHandOver = 200;
}  // namespace

Simulation::Simulation(const SimulationOptions& options, Layer& layer)
    : options_(options), network_(options.network) {
  const auto& shape = options.network;
  processes_.resize(shape.processes);
  const std::uint32_t all = shape.processes * shape.pes_per_process;
  pes_.reserve(all);
  pointers_.reserve(all);
  for (std::uint32_t p = 0; p < shape.processes; ++p) {
    Process& process = processes_[p];
    process.shape = {shape.processes, shape.pes_per_process};
    process.self = comm::ProcessId{p};
    process.clock = &network_.clock();
    process.layer = &layer;
    process.host = this;
    process.seed = shape.seed;
    process.hang_timeout = options.hang_timeout;
    for (std::uint32_t i = 0; i < shape.pes_per_process; ++i) {
      const comm::PeId id{p * shape.pes_per_process + i};
      pes_.push_back(std::make_unique<Pe>(process, id));
      pointers_.push_back(pes_.back().get());
    }
    process.pes = std::span(pointers_).subspan(std::size_t{p} * shape.pes_per_process);
  }
  network_.on_lost([this](comm::ProcessId lost) {
    fail(kExitPeerLost, fmt::format("process {} is lost", number(lost)));
  });
}

Simulation::~Simulation() = default;

SimulationResult Simulation::run() {
  Pe* const before = current_pe;
  for (const auto& pe : pes_) {
    current_pe = pe.get();
    auto port = network_.open(pe->id(), pe->pool());
    SHOAL_CHECK(bool(port), "a simulated port does not open");
    pe->open(std::move(port).value());
    (void)pe->inbox().prepare_sleep();
  }
  current_pe = pes_[0].get();
  processes_[0].layer->start(*pes_[0]);
  run_until_idle(*pes_[0]);
  while (!failed_ && !all_stopped()) {
    const auto next = network_.next();
    if (!next) {
      fail(kExitStuck, "nothing is left to happen, and the program has not ended");
      break;
    }
    run_until_idle(at(*next));
    if (network_.events() > options_.most_events) {
      fail(kExitStuck, fmt::format("the program has not ended after {} events", network_.events()));
    }
  }
  result_.time = network_.clock().now();
  result_.event_hash = network_.event_hash();
  result_.events = network_.events();
  if (!failed_) {
    result_.exit_code = pes_[0]->exit_code();
    // What was still under way arrives at PEs that drop it, and transfers end.
    while (const auto next = network_.next()) run_until_idle(at(*next));
  }
  network_.drop_all();
  for (const auto& pe : pes_) {
    current_pe = pe.get();
    result_.messages += pe->counters.processed;
    pe->close(0);
  }
  for (const auto& pe : pes_) {
    current_pe = pe.get();
    pe->close_port();
  }
  current_pe = before;
  return std::move(result_);
}

void Simulation::run_until_idle(Pe& pe) {
  current_pe = &pe;
  pe.inbox().awake();
  unsigned steps = 0;
  do {
    do {
      while (pe.step()) {
        if (failed_) return;
        if (++steps == kStepsPerTurn) {
          network_.busy(pe.id(), kTurn);
          return network_.wake_at(pe.id(), network_.clock().now());
        }
      }
    } while (pe.settle());
  } while (!pe.inbox().prepare_sleep());
  if (const comm::Nanoseconds look = pe.quiescence().next_look(); look != 0 && !pe.stopped()) {
    network_.wake_at(pe.id(), look);
  }
}

bool Simulation::all_stopped() {
  while (first_running_ < pes_.size() && pes_[first_running_]->stopped()) ++first_running_;
  return first_running_ == pes_.size();
}

void Simulation::wake(Pe& pe) noexcept {
  network_.wake_at(pe.id(), network_.clock().now() + kHandOver);
}

void Simulation::timer_set(Pe& pe, comm::Nanoseconds when) noexcept {
  network_.wake_at(pe.id(), when);
}

void Simulation::fail(int code, const std::string& text) {
  if (failed_) return;
  failed_ = true;
  result_.exit_code = code;
  say(text);
}

}  // namespace shoal::runtime
