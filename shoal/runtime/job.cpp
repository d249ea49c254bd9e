// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/bootstrap.hpp>
#include <shoal/comm/bootstrap/pmix.hpp>
#include <shoal/comm/log.hpp>
#include <shoal/comm/ucx/ucx_leftovers.hpp>
#include <shoal/comm/ucx/ucx_library.hpp>
#include <shoal/comm/ucx/ucx_transport.hpp>
#include <shoal/runtime/exit_codes.hpp>
#include <shoal/runtime/job.hpp>
#include <shoal/runtime/signals.hpp>
#include <shoal/runtime/thread_host.hpp>
#include <shoal/runtime/topology.hpp>

#include <fmt/ranges.h>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace shoal::runtime {

using comm::ErrorCode;
using comm::Expected;
using comm::Level;
using comm::make_error;

namespace {
// The job of this process, for the signal handler, the launcher's word and failed checks. Set while
// it runs.
std::atomic<ThreadHost*> running_host{nullptr};
std::atomic<comm::Bootstrap*> running_bootstrap{nullptr};

void on_interrupt(int signal_number) {
  ThreadHost* host = running_host.load(std::memory_order_acquire);
  comm::Bootstrap* bootstrap = running_bootstrap.load(std::memory_order_acquire);
  if (host != nullptr) {
    if (bootstrap != nullptr && !bootstrap->alone()) {
      bootstrap->interrupted(signal_number);  // the first process to hear of it tells, for all
    } else {
      static constexpr std::string_view kText =
          "shoal: interrupted; ending once the entries that run return, at once if it comes "
          "again\n";
      [[maybe_unused]] const ssize_t said = ::write(STDERR_FILENO, kText.data(), kText.size());
    }
    host->request_stop(128 + signal_number);
    SignalHandlers::next_one_ends(signal_number);
  } else {
    ::_exit(128 + signal_number);
  }
}

// Ctrl-\: says what this process waits for, and goes on.
std::atomic<bool> asked_by_terminal{false};
void on_quit(int) {
  ThreadHost* host = running_host.load(std::memory_order_acquire);
  if (host == nullptr) return;
  asked_by_terminal.store(true, std::memory_order_release);
  host->request_report();
}

void on_stop(int code, const std::string& reason) {
  comm::Bootstrap* bootstrap = running_bootstrap.load(std::memory_order_acquire);
  // Process 0 tells why the job ends; if it is gone itself, the next one does.
  if (bootstrap != nullptr && bootstrap->host_lost() &&
      bootstrap->process() == comm::ProcessId{1}) {
    comm::log_line(Level::error, reason);
  }
  ThreadHost* host = running_host.load(std::memory_order_acquire);
  if (host == nullptr) ::_exit(code);
  host->request_stop(code);
}

// Until the job has been joined.
bool started_as_a_job() { return comm::started_by_launcher() || comm::Pmix::present(); }

void tell_check(const std::string& text) {
  std::fflush(nullptr);
  comm::Bootstrap* bootstrap = running_bootstrap.load(std::memory_order_acquire);
  if (bootstrap != nullptr) bootstrap->failed(text, comm::kCheckFailed);
}

/// Everything that a job of this process consists of, in the order in which it is made.
class Job {
 public:
  explicit Job(const JobSettings& settings) : settings_(settings) {}

  Expected<void> start() {
    topology_ = discover_topology();
    if (auto joined = join(); !joined) return joined;
    tell_options();
    if (auto connected = make_transport(); !connected) return connected;
    make_pes();
    return {};
  }

  int run() {
    ThreadHost host(process_, thread_settings());
    process_.host = &host;
    running_host.store(&host, std::memory_order_release);
    // Under our launcher, it says when to stop; others send signals.
    const bool obeys = bootstrap_->alone() || bootstrap_->hosted();
    SignalHandlers signals;
    signals.take(SIGINT, obeys ? &on_interrupt : nullptr);
    if (obeys) signals.take(SIGTERM, &on_interrupt);
    signals.take(SIGQUIT, obeys ? &on_quit : nullptr);
    bootstrap_->on_report([&host] { host.request_report(); });
    const int code = host.run();
    bootstrap_->on_report({});
    running_host.store(nullptr, std::memory_order_release);
    return code;
  }

  ~Job() { running_bootstrap.store(nullptr, std::memory_order_release); }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

 private:
  Expected<void> join() {
    const auto given = comm::pes_from_launcher();
    std::uint32_t pes = settings_.options.pes;
    if (given && pes != 0 && pes != *given) {
      return make_error(ErrorCode::bad_argument,
                        fmt::format("--shoal-pes asks for {} PEs, the launcher for {}: leave one "
                                    "of them out",
                                    pes, *given));
    }
    comm::Identity identity;
    identity.pes = pes != 0 ? pes : given.value_or(0);
    identity.heartbeat_ms = static_cast<std::uint32_t>(settings_.options.heartbeat_s * 1e3);
    identity.usable = topology_.usable();
    identity.processors = fmt::format("{}", fmt::join(topology_.processors, ","));
    identity.entry_digest = settings_.entry_digest;
    identity.entries = settings_.entries;
    if (started_as_a_job()) {
      auto library = comm::ucx_library();
      if (!library) return library.error();
      identity.ucx = library->version;
    }
    auto joined = comm::Bootstrap::connect(std::move(identity), &on_stop);
    if (!joined) {
      // The launcher, or process 0, has said how the processes differ, once for all of them.
      if (joined.error().code == ErrorCode::mismatch) std::_Exit(kExitStartFailed);
      return joined.error();
    }
    bootstrap_ = std::move(joined).value();
    running_bootstrap.store(bootstrap_.get(), std::memory_order_release);
    if (const auto warning = comm::lone_start_warning(); warning && bootstrap_->alone()) {
      comm::log_line(Level::warning, *warning);
    }
    const comm::JobLayout& layout = bootstrap_->layout();
    pes = layout.pes(bootstrap_->process());
    if (layout.total_pes() != layout.processes() * pes) {
      return make_error(
          ErrorCode::mismatch,
          fmt::format("process {} has {} PEs, but the {} processes have {} in all: "
                      "start each with the same number",
                      number(bootstrap_->process()), pes, layout.processes(), layout.total_pes()));
    }
    process_.shape = {layout.processes(), pes};
    process_.self = bootstrap_->process();
    if (layout.processes() > 1) {
      comm::set_log_name(fmt::format("shoal[{}]", number(process_.self)));
    }
    return {};
  }

  // Once for all processes.
  void tell_options() const {
    if (process_.self != comm::ProcessId{0}) return;
    for (const std::string& warning : settings_.warnings) {
      comm::log(Level::warning, "{}", warning);
    }
    if (!settings_.values.empty()) {
      comm::log_line(Level::info, "options, and where their values are from:" + settings_.values);
    }
  }

  Expected<void> make_transport() {
    if (process_.shape.processes == 1) return {};
    if (bootstrap_->share().before == 0) comm::remove_ucx_leftovers(10 * comm::kSecond);
    comm::UcxOptions options;
    options.first_pe = process_.shape.first_pe(process_.self);
    options.pes = process_.shape.pes_per_process;
    options.addresses = bootstrap_.get();
    options.one_host = bootstrap_->layout().one_host();
    options.on_lost = [this](comm::PeId peer, const std::string& text) {
      if (bootstrap_->ending()) return;
      process_.host->fail(kExitPeerLost,
                          fmt::format("PE {} cannot be reached: {}", number(peer), text));
    };
    auto made = comm::make_ucx_transport(std::move(options));
    if (!made) return made.error();
    transport_ = std::move(made).value();
    comm::log(Level::info, "{}", transport_->description());
    return {};
  }

  void make_pes() {
    const Options& options = settings_.options;
    process_.clock = &comm::steady_clock();
    process_.layer = settings_.layer;
    process_.seed = options.seed;
    process_.hang_timeout = static_cast<comm::Nanoseconds>(options.hang_timeout_s * 1e9);
    process_.fiber_stack = std::size_t{options.fiber_stack_kib} << 10U;
    for (std::uint32_t i = 0; i < process_.shape.pes_per_process; ++i) {
      const comm::PeId id{number(process_.shape.first_pe(process_.self)) + i};
      pes_.push_back(std::make_unique<Pe>(process_, id));
      pointers_.push_back(pes_.back().get());
    }
    process_.pes = pointers_;
  }

  ThreadSettings thread_settings() {
    const comm::Share share = bootstrap_->share();
    const unsigned usable = topology_.usable();
    ThreadSettings settings;
    settings.spin = settings_.options.spin_us * comm::kMicrosecond;
    settings.watch = static_cast<comm::Nanoseconds>(settings_.options.watch_s * 1e9);
    settings.oversubscribed = share.total > usable;
    if (settings.oversubscribed && share.before == 0) {
      comm::log(Level::warning, "{} PEs share {} processors: idle PEs yield and sleep", share.total,
                usable);
    }
    // A program alone that does not fill the machine leaves the choice of cores to the system:
    // others like it would all choose the first.
    const bool fills = !bootstrap_->alone() || share.total == topology_.processors.size();
    if (settings_.options.bind == "auto" && fills && share.total <= topology_.processors.size()) {
      const auto first = topology_.processors.begin() + static_cast<std::ptrdiff_t>(share.before);
      settings.processors.assign(first, first + process_.shape.pes_per_process);
    }
    settings.open_port = [this](Pe& pe) -> Expected<std::unique_ptr<comm::Port>> {
      if (!transport_) return std::unique_ptr<comm::Port>();
      return transport_->open(pe.id(), pe.pool());
    };
    settings.ended = [this](int code) { bootstrap_->exit(code); };
    settings.closing_barrier = [this](comm::Nanoseconds deadline) {
      if (process_.shape.processes > 1) (void)bootstrap_->barrier("closing", deadline);
    };
    if (!bootstrap_->alone()) {
      settings.beat = [this](std::uint64_t steps) { bootstrap_->heartbeat(steps); };
      settings.beat_period = heartbeat() / 2;
    }
    settings.report = [this](const std::string& text) { tell_report(text); };
    settings.failed = [this](int code, const std::string& text) { bootstrap_->failed(text, code); };
    return settings;
  }

  comm::Nanoseconds heartbeat() const {
    return static_cast<comm::Nanoseconds>(settings_.options.heartbeat_s * 1e9);
  }

  // To whoever asked: the launcher for `shoal why`, or the terminal for a Ctrl-\.
  void tell_report(const std::string& text) {
    if (asked_by_terminal.exchange(false, std::memory_order_acq_rel) || bootstrap_->alone()) {
      comm::log_line(Level::error, "what this process waits for:\n" + text);
    } else {
      bootstrap_->report(text);
    }
  }

  const JobSettings& settings_;
  Topology topology_;
  std::unique_ptr<comm::Bootstrap> bootstrap_;
  std::unique_ptr<comm::Transport> transport_;
  Process process_;
  std::vector<std::unique_ptr<Pe>> pes_;
  std::vector<Pe*> pointers_;
};
}  // namespace

int run_job(const JobSettings& settings) {
  comm::set_log_level(log_level(settings.options));
  comm::on_check_failed(&tell_check);
  // A pipe to a launcher would be buffered by the block, and a crash would swallow the last
  // words.
  if (started_as_a_job()) std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  Job job(settings);
  if (const auto started = job.start(); !started) {
    comm::log_line(Level::error,
                   fmt::format("the job could not start: {}", comm::to_string(started.error())));
    return kExitStartFailed;
  }
  const int code = job.run();
  std::fflush(nullptr);
  return code;
}

}  // namespace shoal::runtime
