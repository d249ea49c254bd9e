// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/exit_codes.hpp>
#include <shoal/runtime/pe.hpp>
#include <shoal/runtime/quiescence.hpp>

#include <algorithm>
#include <limits>
#include <map>

namespace shoal::runtime {

namespace {
constexpr comm::Nanoseconds kFirstPause = 20 * comm::kMicrosecond;
constexpr comm::Nanoseconds kLongestPause = comm::kMillisecond;
// A root that nobody asks looks by itself, so that a program that is stuck is told.
constexpr comm::Nanoseconds kOwnLook = 100 * comm::kMillisecond;
constexpr comm::Nanoseconds kLongestOwnLook = comm::kSecond;

std::uint32_t saturated(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(value, std::numeric_limits<std::uint32_t>::max()));
}
}  // namespace

struct Quiescence::Root {
  bool program_ended = false;
  bool ended = false;                         // an end has been decided
  std::map<comm::PeId, std::uint64_t> asked;  // the last serial of each PE that has waiters
  bool has_last = false;
  Sum last;  // of the wave before
  comm::Nanoseconds unchanged_since = 0;
  comm::Nanoseconds pause = kFirstPause;
  comm::Nanoseconds next_wave = 0;
  comm::Nanoseconds wave_began = 0;
  bool told_of_silence = false;  // in this wave
};

Quiescence::Quiescence(Pe& pe) noexcept : pe_(pe) {}
Quiescence::~Quiescence() = default;

void Quiescence::wait(Waiter& waiter) {
  if (!must_ask_) {
    must_ask_ = true;  // when idle, once for all that have come until then
    waiting_.emplace_back().serial = ++serial_;
    // Asking and telling resume somebody in the end: while they are under way, nothing is stuck.
    pe_.hold(false);
  }
  waiting_.back().waiters.add(pe_, waiter);
}

void Quiescence::ask() {
  must_ask_ = false;
  Envelope question;
  question.kind = Kind::watch;
  question.element = serial_;
  pe_.send_control(comm::PeId{0}, question);
}

void Quiescence::program_ended() {
  if (!root_) root_ = std::make_unique<Root>();
  root_->program_ended = true;
  root_->pause = kFirstPause;
  root_->next_wave = 0;
}

comm::Nanoseconds Quiescence::next_look() const noexcept {
  return root_ && !in_wave_ && !root_->ended ? root_->next_wave : 0;
}

comm::Nanoseconds Quiescence::silence_at() const noexcept {
  const bool waits = root_ && in_wave_ && !root_->ended && !root_->told_of_silence;
  return waits ? root_->wave_began + pe_.process().hang_timeout : 0;
}

bool Quiescence::on_idle() {
  if (must_ask_) {
    ask();
    return true;
  }
  if (in_wave_ && missing_ == 0) {
    answer();
    return true;
  }
  if (pe_.id() != comm::PeId{0}) return false;
  if (in_wave_) {
    tell_of_silence();
    return false;
  }
  if (!root_) root_ = std::make_unique<Root>();
  if (root_->ended) return false;
  const comm::Nanoseconds now = pe_.now();
  if (root_->next_wave == 0 && !root_->program_ended && root_->asked.empty()) {
    root_->next_wave = now + kOwnLook;
    root_->pause = kOwnLook;
  }
  if (now < root_->next_wave) return false;
  start_wave();
  return true;
}

void Quiescence::tell_of_silence() {
  const comm::Nanoseconds limit = pe_.process().hang_timeout;
  if (!root_ || root_->told_of_silence || pe_.now() - root_->wave_began < limit) return;
  root_->told_of_silence = true;
  std::string silent;
  unsigned place = 0;
  for_each_tree_child(pe_.process().shape, pe_.id(), [&](comm::PeId child) {
    if ((missing_ >> place++ & 1U) == 0) return;
    silent += fmt::format("{}{}", silent.empty() ? "" : ", ", number(child));
  });
  pe_.process().host->say(fmt::format(
      "PE {} or one below it has not answered for {:.0f} s: it runs a long entry, or its "
      "process stands still",
      silent, static_cast<double>(limit) / 1e9));
}

void Quiescence::start_wave() {
  root_->wave_began = pe_.now();
  root_->told_of_silence = false;
  Envelope probe;
  probe.kind = Kind::probe;
  probe.entry = static_cast<std::uint16_t>(wave_ + 1);
  on_control(probe);
}

void Quiescence::on_control(const Envelope& envelope) {
  const Shape& shape = pe_.process().shape;
  unsigned place = 0;  // of a child among all
  switch (envelope.kind) {
    case Kind::probe:
      in_wave_ = true;
      wave_ = envelope.entry;
      sum_ = {};
      missing_ = 0;
      place = 0;
      for_each_tree_child(shape, pe_.id(), [&](comm::PeId child) {
        missing_ |= 1U << place++;
        pe_.send_control(child, envelope);
      });
      break;
    case Kind::contribution:
      sum_.created += envelope.element;
      sum_.processed += envelope.collection;
      sum_.passive += static_cast<std::uint32_t>(envelope.call >> 32U);
      sum_.waiters += static_cast<std::uint32_t>(envelope.call);
      sum_.timers = sum_.timers || envelope.entry != 0;
      place = 0;
      for_each_tree_child(shape, pe_.id(), [&](comm::PeId child) {
        if (number(child) == envelope.source) missing_ &= ~(1U << place);
        ++place;
      });
      break;
    case Kind::watch:
      if (!root_) root_ = std::make_unique<Root>();
      pe_.release_hold(false);
      {
        std::uint64_t& serial = root_->asked[comm::PeId{envelope.source}];
        serial = std::max(serial, envelope.element);
      }
      root_->has_last = false;
      root_->pause = kFirstPause;
      root_->next_wave = 0;
      break;
    case Kind::quiet:
      pe_.release_hold(false);
      while (!waiting_.empty() && waiting_.front().serial <= envelope.element) {
        waiting_.front().waiters.wake_all(pe_);
        waiting_.pop_front();
      }
      break;
    default:
      break;
  }
}

void Quiescence::answer() {
  const Counters& own = pe_.counters;
  sum_.created += own.created;
  sum_.processed += own.processed;
  sum_.passive += saturated(own.passive);
  sum_.waiters += saturated(own.waiters);
  sum_.timers = sum_.timers || own.timers != 0;
  in_wave_ = false;
  if (pe_.id() == comm::PeId{0}) {
    judge();
    return;
  }
  Envelope up;
  up.kind = Kind::contribution;
  up.element = sum_.created;
  up.collection = sum_.processed;
  up.call = std::uint64_t{sum_.passive} << 32U | sum_.waiters;
  up.entry = sum_.timers ? 1 : 0;
  pe_.send_control(tree_parent(pe_.process().shape, pe_.id()), up);
}

void Quiescence::judge() {
  Root& root = *root_;
  const comm::Nanoseconds now = pe_.now();
  const bool same = root.has_last && root.last == sum_;
  const bool asked = !root.asked.empty() || root.program_ended;
  const std::uint64_t left = sum_.created - sum_.processed;
  const bool looks_still = !sum_.timers && (left == 0 || left == sum_.passive);
  if (!same) root.unchanged_since = now;
  root.last = sum_;
  root.has_last = true;
  if (same) {
    if (left == 0 && asked) return became_quiet();
    if (looks_still && (left > 0 || sum_.waiters > 0)) {
      return stuck("deadlock: nothing moves any more");
    }
    if (!sum_.timers && now - root.unchanged_since >= pe_.process().hang_timeout) {
      return stuck("no progress: all PEs are idle, but messages are missing");
    }
  } else if (looks_still) {
    root.next_wave = now;  // the second wave, which decides, follows at once
    return;
  }
  // While things move, waves come ever more rarely, so that they cost a busy program nothing.
  root.next_wave = now + root.pause;
  root.pause = std::min(root.pause * 2, asked ? kLongestPause : kLongestOwnLook);
}

void Quiescence::became_quiet() {
  Root& root = *root_;
  root.has_last = false;
  root.pause = kFirstPause;
  root.next_wave = 0;
  if (!root.asked.empty()) {
    Envelope tell;
    tell.kind = Kind::quiet;
    for (const auto& [pe, serial] : root.asked) {
      tell.element = serial;
      pe_.hold(false);
      pe_.send_control(pe, tell);
    }
    root.asked.clear();
    return;
  }
  if (sum_.waiters > 0) return stuck("deadlock: the program has ended, but not all that waits");
  root.ended = true;
  pe_.exit(0);
}

void Quiescence::stuck(const char* headline) {
  root_->ended = true;
  pe_.process().host->say(fmt::format("{}; {} wait, {} messages or replies are owed:", headline,
                                      sum_.waiters, sum_.created - sum_.processed));
  Envelope end;
  end.kind = Kind::report;
  end.element = static_cast<std::uint64_t>(kExitStuck);
  pe_.send_control(comm::PeId{0}, end);
}

}  // namespace shoal::runtime
