// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/simulated/network.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace shoal::comm {

SimulatedNetwork::SimulatedNetwork(const SimulatedOptions& options)
    : options_(options),
      random_(options.seed),
      delays_({.seed = options.seed,
               .min_delay = options.min_delay,
               .max_delay = options.max_delay,
               .reorder = options.reorder}),
      stalled_until_(options.processes),
      lost_(options.processes),
      hash_(mix(0)) {
  const std::uint64_t pes = std::uint64_t{options.processes} * options.pes_per_process;
  SHOAL_CHECK(pes > 0 && pes < number(kNoPe), "{} processes of {} PEs", options.processes,
              options.pes_per_process);
  pes_.resize(pes);
  for (const auto& loss : options.losses) {
    SHOAL_CHECK(number(loss.process) < options.processes, "process {} of {}", number(loss.process),
                options.processes);
    queue_.push(loss.at, EventKind::loss, number(loss.process));
  }
}

SimulatedNetwork::~SimulatedNetwork() {
  SHOAL_CHECK(open_ports_ == 0, "{} ports outlive their network", open_ports_);
  drop_all();
}

std::string SimulatedNetwork::description() const {
  return fmt::format("simulated ({} processes of {} PEs; {} to {} ns; seed {})", options_.processes,
                     options_.pes_per_process, options_.min_delay, options_.max_delay,
                     options_.seed);
}

std::optional<PeId> SimulatedNetwork::next() {
  while (!queue_.empty()) {
    const Event event = queue_.pop();
    clock_.set(event.time);
    ++events_;
    prefetch();
    if (auto pe = happen(event)) return pe;
  }
  return std::nullopt;
}

// With thousands of PEs nearly every event waits for memory several times (12 M events/s with 100
// PEs, 1.2 with 10,000), so what the next ones will touch is asked for some events ahead, step by
// step: what a step reads was asked for by the one before.
void SimulatedNetwork::prefetch() noexcept {
  const auto flight_at = [this](std::uint32_t n) -> const Flight* {
    const Event* event = queue_.ahead(n);
    return event != nullptr && is_flight(event->kind) ? &flights_[event->subject] : nullptr;
  };
  if (const Flight* flight = flight_at(14)) __builtin_prefetch(flight);
  if (const Flight* flight = flight_at(8)) {
    __builtin_prefetch(flight->frame);
    __builtin_prefetch(&at(flight->to));
  }
  if (const Flight* flight = flight_at(3); flight != nullptr && flight->frame != nullptr) {
    __builtin_prefetch(flight->frame->owner);
  }
  asm volatile("");  // g++ 12 takes a function that only prefetches for pure and drops the call
}

std::optional<PeId> SimulatedNetwork::soon(std::uint32_t n) const noexcept {
  const Event* event = queue_.ahead(n);
  if (event == nullptr || event->kind == EventKind::loss) return std::nullopt;
  return is_flight(event->kind) ? flights_[event->subject].to : PeId{event->subject};
}

void SimulatedNetwork::wake_at(PeId pe, Nanoseconds when) {
  Pe& state = at(pe);
  if (state.gone) return;
  if (when <= clock_.now()) {
    if (!state.run_pending) queue_.push(has_time_at(pe), EventKind::run, number(pe));
    state.run_pending = true;
    return;
  }
  std::uint32_t before = kNoSlot;
  std::uint32_t after = state.first_wake_up;
  while (after != kNoSlot && wake_ups_[after].when < when) {
    before = after;
    after = wake_ups_[after].next;
  }
  if (after != kNoSlot && wake_ups_[after].when == when) return;
  const std::uint32_t slot = wake_ups_.take();
  wake_ups_[slot] = {.when = when, .next = after};
  (before == kNoSlot ? state.first_wake_up : wake_ups_[before].next) = slot;
  queue_.push(when, EventKind::wake, number(pe));
}

void SimulatedNetwork::busy(PeId pe, Nanoseconds duration) {
  Pe& state = at(pe);
  state.free_at = std::max(state.free_at, clock_.now()) + duration;
}

Nanoseconds SimulatedNetwork::travel(PeId from, PeId to) noexcept {
  return delays_.draw(process_of(from), process_of(to), random_);
}

void SimulatedNetwork::record(EventKind kind, PeId from, PeId to, std::size_t size) noexcept {
  const std::uint64_t pair = (std::uint64_t{number(from)} << 32U) | number(to);
  std::uint64_t hash = (hash_ ^ clock_.now()) * 0x9e3779b97f4a7c15ULL;
  hash = ((hash ^ (hash >> 32U)) ^ pair) * 0xbf58476d1ce4e5b9ULL;
  hash =
      ((hash ^ (hash >> 29U)) ^ ((std::uint64_t{size} << 3U) | static_cast<std::uint64_t>(kind)));
  hash *= 0x94d049bb133111ebULL;
  hash_ = hash ^ (hash >> 32U);
}

std::optional<PeId> SimulatedNetwork::happen(const Event& event) {
  switch (event.kind) {
    case EventKind::frame:
      return frame_arrives(event.subject);
    case EventKind::bulk:
      return bulk_arrives(event.subject);
    case EventKind::returned:
      return end_is_known(event.subject);
    case EventKind::wake:
      return wakes(PeId{event.subject});
    case EventKind::run:
      break;
    case EventKind::loss:
      record(EventKind::loss, PeId{event.subject}, kNoPe, 0);
      lose(ProcessId{event.subject});
      return std::nullopt;
  }
  const PeId pe{event.subject};
  record(EventKind::run, pe, pe, 0);
  at(pe).run_pending = false;
  return run_now_or_later(pe);
}

std::optional<PeId> SimulatedNetwork::frame_arrives(std::uint32_t slot) {
  Flight& flight = flights_[slot];
  if (flight.frame == nullptr) {
    record(EventKind::frame, flight.from, flight.to, 0);
    flights_.give(slot);
    return std::nullopt;
  }
  record(EventKind::frame, flight.from, flight.to, flight.frame->size + flight.bulk_size);
  flight.stage = Stage::arrived;
  return put_at_hand(slot);
}

std::optional<PeId> SimulatedNetwork::bulk_arrives(std::uint32_t slot) {
  Flight& flight = flights_[slot];
  record(EventKind::bulk, flight.from, flight.to, flight.bulk_size);
  if (at(flight.to).gone) {
    flights_.give(slot);
    return std::nullopt;
  }
  const std::byte* source = std::exchange(flight.source, nullptr);
  flight.succeeded = source != nullptr;
  flight.stage = Stage::fetched;
  if (flight.succeeded) {
    std::memcpy(flight.target, source, flight.bulk_size);
    tell_sender(flight.from, flight.to, flight.at_sender, true);  // ends the reference
  }
  return put_at_hand(slot);
}

std::optional<PeId> SimulatedNetwork::end_is_known(std::uint32_t slot) {
  Flight& flight = flights_[slot];
  record(EventKind::returned, flight.from, flight.to, 0);
  if (at(flight.to).gone) {
    flights_.give(slot);
    return std::nullopt;
  }
  flight.stage = Stage::returned;
  return put_at_hand(slot);
}

std::optional<PeId> SimulatedNetwork::wakes(PeId pe) {
  record(EventKind::wake, pe, pe, 0);
  Pe& state = at(pe);
  const std::uint32_t slot = state.first_wake_up;
  state.first_wake_up = wake_ups_[slot].next;
  wake_ups_.give(slot);
  maybe_stall(pe);
  return run_now_or_later(pe);
}

std::optional<PeId> SimulatedNetwork::put_at_hand(std::uint32_t slot) {
  const PeId pe = flights_[slot].to;
  Pe& state = at(pe);
  if (state.last_ready == kNoSlot) {
    state.first_ready = slot;
  } else {
    flights_[state.last_ready].next = slot;
  }
  state.last_ready = slot;
  if (state.pool == nullptr) return std::nullopt;  // `open` wakes it
  maybe_stall(pe);
  return run_now_or_later(pe);
}

void SimulatedNetwork::maybe_stall(PeId pe) {
  if (!(options_.stall > 0) || options_.stall_ns == 0) return;
  Nanoseconds& until = stalled_until_[number(process_of(pe))];
  // A stalled process does not stall again, so that it goes on at last whatever arrives.
  if (until > clock_.now() || !random_.chance(options_.stall)) return;
  until = clock_.now() + 1 + random_.below(options_.stall_ns);
}

Nanoseconds SimulatedNetwork::has_time_at(PeId pe) noexcept {
  const Nanoseconds time = std::max(clock_.now(), at(pe).free_at);
  if (!(options_.stall > 0)) return time;
  return std::max(time, stalled_until_[number(process_of(pe))]);
}

std::optional<PeId> SimulatedNetwork::run_now_or_later(PeId pe) {
  Pe& state = at(pe);
  if (state.gone) return std::nullopt;
  const Nanoseconds time = has_time_at(pe);
  if (time > clock_.now()) {
    if (!state.run_pending) queue_.push(time, EventKind::run, number(pe));
    state.run_pending = true;
    return std::nullopt;
  }
  state.free_at = time + options_.step_cost;
  return pe;
}

}  // namespace shoal::comm
