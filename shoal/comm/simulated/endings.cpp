// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/simulated/network.hpp>

#include <algorithm>
#include <utility>

namespace shoal::comm {

void SimulatedNetwork::lose(ProcessId process) {
  SHOAL_CHECK(number(process) < options_.processes, "process {} of {}", number(process),
              options_.processes);
  if (std::exchange(lost_[number(process)], std::uint8_t{1}) != 0) return;
  const std::uint32_t first = number(process) * options_.pes_per_process;
  remove(PeId{first}, PeId{first + options_.pes_per_process - 1}, true);
  if (on_lost_) on_lost_(process);
}

void SimulatedNetwork::close(PeId pe) {
  const Pool* pool = std::exchange(at(pe).pool, nullptr);
  --open_ports_;
  if (flights_.in_use() != 0) take_over_frames(pool);
  remove(pe, pe, false);
}

bool SimulatedNetwork::bulks_under_way(PeId pe) noexcept {
  if (flights_.in_use() == 0) return false;
  for (std::uint32_t slot = 0; slot < flights_.size(); ++slot) {
    const Flight& flight = flights_[slot];
    const bool sent = flight.from == pe && flight.source != nullptr;
    const bool fetched =
        flight.to == pe && (flight.stage == Stage::fetching || flight.stage == Stage::returning);
    if (sent || fetched) return true;
  }
  return false;
}

void SimulatedNetwork::drop_all() {
  for (std::uint32_t slot = 0; slot < flights_.size(); ++slot) discard(flights_[slot].frame);
  flights_.clear();
  wake_ups_.clear();
  queue_.clear();
  ++drops_;
  for (Pe& state : pes_) {
    state.first_ready = state.last_ready = state.first_wake_up = kNoSlot;
    state.run_pending = false;
  }
}

void SimulatedNetwork::discard(Frame*& frame) noexcept {
  if (frame == nullptr) return;
  if (frame->owner != nullptr) frame->owner->release(frame);
  frame = nullptr;
  --frames_in_flight_;
}

/// Copies what `pool` owns into the network's own, because the pool is about to die.
void SimulatedNetwork::take_over_frames(const Pool* pool) {
  for (std::uint32_t slot = 0; slot < flights_.size(); ++slot) {
    Frame* frame = flights_[slot].frame;
    if (frame == nullptr || frame->owner != pool) continue;
    Frame* copy = take_frame(own_, frame->size);
    std::ranges::copy(frame->bytes(), copy->data());
    frame->owner->release(frame);
    flights_[slot].frame = copy;
  }
}

/// Ends what the PEs from `first` to `last` take part in. Frames that they sent vanish or travel
/// on.
void SimulatedNetwork::remove(PeId first, PeId last, bool with_frames) {
  for (std::uint32_t pe = number(first); pe <= number(last); ++pe) pes_[pe].gone = true;
  any_gone_ = true;
  if (flights_.in_use() == 0) return;
  const auto among = [&](PeId pe) { return pe >= first && pe <= last; };
  for (std::uint32_t slot = 0; slot < flights_.size(); ++slot) {
    if (flights_[slot].stage == Stage::none) continue;
    if (among(flights_[slot].from)) sender_goes(slot, with_frames);
    if (among(flights_[slot].to)) receiver_goes(slot);
  }
  for (std::uint32_t pe = number(first); pe <= number(last); ++pe) {
    Pe& state = pes_[pe];
    while (state.first_ready != kNoSlot) {
      const std::uint32_t slot = state.first_ready;
      state.first_ready = flights_[slot].next;
      flights_.give(slot);
    }
    state.last_ready = kNoSlot;
  }
}

void SimulatedNetwork::sender_goes(std::uint32_t slot, bool with_frames) {
  Flight& flight = flights_[slot];
  if (flight.stage == Stage::returning || flight.stage == Stage::returned) return;  // it has ended
  flight.source = nullptr;
  flight.at_sender = nullptr;
  if (with_frames) discard(flight.frame);
}

void SimulatedNetwork::receiver_goes(std::uint32_t slot) {
  Flight& flight = flights_[slot];
  if (flight.stage == Stage::returning || flight.stage == Stage::returned) {
    flight.at_sender = nullptr;
    return;
  }
  discard(flight.frame);
  flight.target = nullptr;
  flight.at_receiver = nullptr;
  const PeId from = flight.from;
  const PeId to = flight.to;
  const bool waited_for = std::exchange(flight.source, nullptr) != nullptr;
  Completion* at_sender = std::exchange(flight.at_sender, nullptr);
  // In the other stages an event or the receiver's list still holds the slot.
  if (flight.stage == Stage::announced) flights_.give(slot);
  if (waited_for) tell_sender(from, to, at_sender, false);  // ends the reference
}

}  // namespace shoal::comm
