// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/log.hpp>
#include <shoal/comm/quiet_thread.hpp>
#include <shoal/runtime/exit_codes.hpp>
#include <shoal/runtime/fiber.hpp>
#include <shoal/runtime/thread_host.hpp>
#include <shoal/runtime/thread_place.hpp>
#include <shoal/runtime/topology.hpp>

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <latch>

namespace shoal::runtime {

namespace {
// Idle polls between two looks at the clock, at waves and at blocks to give back.
constexpr unsigned kPollsPerLook = 64;
// Beyond the cores: how often an idle PE offers its core to others before it sleeps.
constexpr unsigned kYields = 4;
constexpr comm::Nanoseconds kCloseLimit = 5 * comm::kSecond;
constexpr comm::Nanoseconds kLongestSleep = 10 * comm::kSecond;
}  // namespace

ThreadHost::ThreadHost(Process& process, ThreadSettings settings)
    : process_(process),
      settings_(std::move(settings)),
      watch_wake_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  for (Pe* pe : process.pes) places_.push_back(std::make_unique<Place>(*pe));
}

ThreadHost::~ThreadHost() = default;

int ThreadHost::run() {
  auto watcher = comm::start_quiet_thread("shoal-watch", [this] { watch(); });
  SHOAL_CHECK(watcher, "{}", comm::to_string(watcher.error()));
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < places_.size(); ++i) {
    threads.emplace_back([this, i] { run_pe(*places_[i]); });
  }
  run_pe(*places_[0]);
  for (std::thread& thread : threads) thread.join();
  watching_.store(false, std::memory_order_release);
  comm::signal_eventfd(watch_wake_);
  watcher->join();
  const int requested = stop_code_.load(std::memory_order_relaxed);
  return requested != kRunning ? requested : process_.pes[0]->exit_code();
}

void ThreadHost::run_pe(Place& place) {
  Pe& pe = place.pe;
  current_pe = &pe;
  watch_stack_overflow();
  if (!settings_.processors.empty()) {
    const auto local = number(pe.id()) - number(process_.shape.first_pe(process_.self));
    bind_to(settings_.processors[local]);
  }
  auto port = settings_.open_port(pe);
  if (!port) return fail(kExitStartFailed, comm::to_string(port.error()));
  pe.open(std::move(port).value());
  if (pe.id() == comm::PeId{0}) process_.layer->start(pe);
  loop(place);
  if (pe.id() == comm::PeId{0} && pe.stopped()) settings_.ended(pe.exit_code());
  // The launcher's word that the job is stuck may come before that of PE 0.
  if (!pe.stopped() && stop_code_.load(std::memory_order_relaxed) == kExitStuck) pe.report_waits();
  pe.close(comm::steady_clock().now() + kCloseLimit);
  // Ports live, and go on receiving, until all processes have flushed to them (comm/ucx says why).
  closed_.fetch_add(1, std::memory_order_acq_rel);
  std::thread barrier;
  if (&place == places_.front().get()) {
    barrier = std::thread([this] {
      while (closed_.load(std::memory_order_acquire) != places_.size()) sched_yield();
      settings_.closing_barrier(comm::steady_clock().now() + kCloseLimit);
      may_destroy_.store(true, std::memory_order_release);
    });
  }
  while (!may_destroy_.load(std::memory_order_acquire)) {
    if (!pe.linger()) sched_yield();
  }
  if (barrier.joinable()) barrier.join();
  pe.close_port();
  current_pe = nullptr;
}

void ThreadHost::loop(Place& place) {
  Pe& pe = place.pe;
  while (!stopping(pe)) {
    place.steps.store(place.steps.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (place.asked.load(std::memory_order_relaxed)) [[unlikely]]
      answer(place);
    if (pe.step()) {
      place.idle_polls = 0;
      continue;
    }
    ++place.idle_polls;
    if (settings_.oversubscribed) {
      if (pe.settle()) continue;
      if (place.idle_polls <= kYields) {
        sched_yield();
        continue;
      }
      sleep(place);
      continue;
    }
    if (place.idle_polls % kPollsPerLook != 0) continue;
    const comm::Nanoseconds now = pe.now();
    if (place.idle_polls == kPollsPerLook) place.idle_since = now;
    if (pe.settle()) continue;
    if (now - place.idle_since >= settings_.spin) sleep(place);
  }
}

void ThreadHost::sleep(Place& place) {
  Pe& pe = place.pe;
  if (!pe.inbox().prepare_sleep()) return;
  std::array<pollfd, 2> sources{pollfd{place.event, POLLIN, 0}, pollfd{-1, POLLIN, 0}};
  if (comm::Port* port = pe.port()) {
    if (!port->arm()) return pe.inbox().awake();
    sources[1].fd = port->event_fd();
  }
  comm::Nanoseconds until = pe.now() + kLongestSleep;
  if (!pe.timers().empty()) until = std::min(until, pe.timers().next());
  for (const comm::Nanoseconds look : {pe.quiescence().next_look(), pe.quiescence().silence_at()}) {
    if (look != 0) until = std::min(until, look);
  }
  const comm::Nanoseconds now = pe.now();
  if (until > now && stop_code_.load(std::memory_order_seq_cst) == kRunning) {
    const comm::Nanoseconds left = until - now;
    const timespec limit{static_cast<time_t>(left / comm::kSecond),
                         static_cast<long>(left % comm::kSecond)};
    ::ppoll(sources.data(), sources.size(), &limit, nullptr);
    std::uint64_t count = 0;
    if ((sources[0].revents & POLLIN) != 0 && ::read(place.event, &count, sizeof count) < 0) {
      // EAGAIN: somebody's wake-up has been used up already
    }
  }
  pe.inbox().awake();
  place.idle_polls = 0;
}

void ThreadHost::wake(Pe& pe) noexcept {
  const auto local = number(pe.id()) - number(process_.shape.first_pe(process_.self));
  const std::uint64_t one = 1;
  if (::write(places_[local]->event, &one, sizeof one) < 0) {
    // EAGAIN: the counter is full, so the PE is awake
  }
}

void ThreadHost::request_stop(int code) noexcept {
  int running = kRunning;
  stop_code_.compare_exchange_strong(running, code, std::memory_order_seq_cst);
  for (const auto& place : places_) wake(place->pe);
}

void ThreadHost::fail(int code, const std::string& text) {
  comm::log_line(comm::Level::error, text);
  std::fflush(nullptr);
  settings_.failed(code, text);
  ::_exit(code);
}

void ThreadHost::say(const std::string& line) {
  if (report_of_thread != nullptr) {
    *report_of_thread += line + '\n';
  } else {
    comm::log_line(comm::Level::error, line);
  }
}

}  // namespace shoal::runtime
