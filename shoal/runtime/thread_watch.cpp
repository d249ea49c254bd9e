// SPDX-License-Identifier: Apache-2.0
// The part of ThreadHost that watches: entries that run for long, the process's sign of life, and
// what its PEs wait for, when somebody asks.
#include <shoal/comm/log.hpp>
#include <shoal/comm/quiet_thread.hpp>
#include <shoal/runtime/thread_place.hpp>

#include <poll.h>

#include <algorithm>
#include <chrono>

namespace shoal::runtime {

constinit thread_local std::string* report_of_thread = nullptr;

namespace {
// How long a PE may take to say what it waits for. One that runs an entry meanwhile is named.
constexpr comm::Nanoseconds kReportLimit = comm::kSecond;
// Reports follow each other no faster than this; what is asked sooner waits.
constexpr comm::Nanoseconds kReportPause = comm::kSecond / 2;
}  // namespace

struct ThreadHost::Seen {
  std::uint64_t steps = 0;
  comm::Nanoseconds since = 0;
  bool told = false;
};

void ThreadHost::request_report() noexcept {
  report_wanted_.store(true, std::memory_order_release);
  comm::signal_eventfd(watch_wake_);
}

void ThreadHost::watch() {
  std::vector<Seen> seen(places_.size());
  comm::Nanoseconds next_look = 0;
  comm::Nanoseconds next_beat = settings_.beat ? comm::Nanoseconds{0} : ~comm::Nanoseconds{0};
  comm::Nanoseconds next_report = 0;
  while (watching_.load(std::memory_order_acquire)) {
    const comm::Nanoseconds now = comm::steady_clock().now();
    if (report_wanted_.load(std::memory_order_acquire) && now >= next_report) {
      report_wanted_.store(false, std::memory_order_release);
      settings_.report(gather_report(seen));
      next_report = comm::steady_clock().now() + kReportPause;
    }
    if (now >= next_beat) {
      settings_.beat(steps());
      next_beat = now + settings_.beat_period;
    }
    if (now >= next_look) {
      look_for_long_entries(seen, now);
      next_look = now + settings_.watch / 4;
    }
    pollfd wake{watch_wake_.get(), POLLIN, 0};
    comm::Nanoseconds next = std::min(next_look, next_beat);
    if (report_wanted_.load(std::memory_order_acquire)) next = std::min(next, next_report);
    ::poll(&wake, 1, comm::milliseconds_until(next));
    if (wake.revents != 0) comm::clear_eventfd(watch_wake_);
  }
}

std::uint64_t ThreadHost::steps() const noexcept {
  std::uint64_t sum = 0;
  for (const auto& place : places_) sum += place->steps.load(std::memory_order_relaxed);
  return sum;
}

void ThreadHost::look_for_long_entries(std::vector<Seen>& seen, comm::Nanoseconds now) {
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Pe& pe = places_[i]->pe;
    const std::uint64_t steps = places_[i]->steps.load(std::memory_order_relaxed);
    const Message* running = pe.current();
    if (steps != seen[i].steps || running == nullptr) {
      seen[i] = {steps, now, false};
    } else if (now - seen[i].since >= settings_.watch && !seen[i].told) {
      seen[i].told = true;
      comm::log(comm::Level::warning, "PE {}: {} has run for {:.1f} s without giving the PE back",
                number(pe.id()), pe.describe_current(),
                static_cast<double>(now - seen[i].since) / 1e9);
    }
  }
}

std::string ThreadHost::gather_report(const std::vector<Seen>& seen) {
  for (const auto& place : places_) {
    place->asked.store(true, std::memory_order_release);
    wake(place->pe);
  }
  const auto answered = [this] {
    return std::all_of(places_.begin(), places_.end(), [](const auto& place) {
      return !place->asked.load(std::memory_order_acquire);
    });
  };
  std::unique_lock lock(report_mutex_);
  reported_.wait_for(lock, std::chrono::nanoseconds(kReportLimit), answered);
  std::string text;
  const comm::Nanoseconds now = comm::steady_clock().now();
  for (std::size_t i = 0; i < places_.size(); ++i) {
    Place& place = *places_[i];
    if (!place.asked.exchange(false, std::memory_order_acq_rel)) {
      text += std::exchange(place.report, {});
    } else if (place.pe.current() == nullptr) {
      text += fmt::format("  PE {}: does not answer: it starts, or ends\n", number(place.pe.id()));
    } else {
      text += fmt::format("  PE {}: runs {}, and has not given the PE back for {:.1f} s\n",
                          number(place.pe.id()), place.pe.describe_current(),
                          static_cast<double>(now - seen[i].since) / 1e9);
    }
  }
  return text;
}

/// On the PE's thread.
void ThreadHost::answer(Place& place) {
  std::string text;
  report_of_thread = &text;
  place.pe.report();
  report_of_thread = nullptr;
  const std::lock_guard lock(report_mutex_);
  place.report = std::move(text);
  place.asked.store(false, std::memory_order_release);
  reported_.notify_all();
}

}  // namespace shoal::runtime
