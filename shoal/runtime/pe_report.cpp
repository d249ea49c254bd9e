// SPDX-License-Identifier: Apache-2.0
// The part of Pe that says, in words, what it holds and who waits for what.
#include <shoal/runtime/pe.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

namespace shoal::runtime {

namespace {
// Queued messages that are looked at, and kinds of them that are named: a report stays short.
constexpr std::size_t kMostLookedAt = 100'000;
constexpr std::size_t kKindsShown = 5;

std::string describe_queue(Pe& pe, const Fifo& queue) {
  std::map<std::string, std::size_t> kinds;
  std::map<const void*, std::string> names;  // by entry: naming one costs a microsecond
  std::size_t count = 0;
  queue.for_first(kMostLookedAt, [&](const Message& message) {
    ++count;
    if (message.type->describe == nullptr) return;
    Activity activity = message.type->describe(message);
    activity.element = 0;
    const auto [name, is_new] = names.try_emplace(activity.entry);
    if (is_new) name->second = pe.process().layer->describe(pe, activity);
    ++kinds[name->second.substr(0, name->second.find(" of "))];
  });
  if (count == 0) return "no message queued";
  std::vector<std::pair<std::size_t, std::string>> most;
  most.reserve(kinds.size());
  for (const auto& [name, of_kind] : kinds) most.emplace_back(of_kind, name);
  std::sort(most.rbegin(), most.rend());
  std::string text =
      fmt::format("{}{} messages queued", count == kMostLookedAt ? "over " : "", count);
  for (std::size_t i = 0; i < std::min(kKindsShown, most.size()); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", most[i].first, most[i].second);
  }
  return text;
}
}  // namespace

void Pe::report() {
  process_.host->say(fmt::format("  PE {}: {}; {} messages and holds created, {} ended; {} timers",
                                 number(id_), describe_queue(*this, fifo_), counters.created,
                                 counters.processed, counters.timers));
  if (port_ != nullptr) {
    for (const std::string& line : port_->describe_unsent()) {
      process_.host->say(fmt::format("  PE {}: {}", number(id_), line));
    }
  }
  report_waits(true);
}

void Pe::report_waits(bool services) {
  const comm::Nanoseconds now = this->now();
  for (const Waiter* waiter = waits_; waiter != nullptr; waiter = waiter->following) {
    if (waiter->service && !services) continue;
    std::string line = fmt::format("  PE {}: {} waits for {}", number(id_),
                                   process_.layer->describe(*this, waiter->who), waiter->waits_for);
    if (waiter->on.entry != nullptr) {
      line += fmt::format(" of {}", process_.layer->describe(*this, waiter->on));
    }
    line += fmt::format(", for {:.1f} s", static_cast<double>(now - waiter->since) / 1e9);
    process_.host->say(line);
  }
  process_.layer->report_parked(*this);
}

}  // namespace shoal::runtime
