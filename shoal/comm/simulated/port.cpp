// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/simulated/network.hpp>

#include <algorithm>
#include <utility>

namespace shoal::comm {

class SimulatedPort final : public Port {
 public:
  SimulatedPort(SimulatedNetwork& network, PeId pe) noexcept : network_(network), pe_(pe) {}
  ~SimulatedPort() override { network_.close(pe_); }

  void send(PeId to, Frame* frame, OutgoingBulk bulk) override {
    network_.send(pe_, to, frame, bulk);
  }
  bool progress(Receiver& receiver) override { return network_.progress(pe_, receiver); }
  void receive(BulkHandle bulk, std::span<std::byte> target, Completion& completion) override {
    network_.receive(pe_, bulk, target, completion);
  }
  void release(BulkHandle bulk) override { network_.release(pe_, bulk); }
  bool arm() override { return network_.at(pe_).first_ready == kNoSlot; }
  int event_fd() const noexcept override { return -1; }

  /// Time stands still within a call, so nothing is waited for: frames under way arrive in any
  /// case, and with bulks under way the call fails and can be repeated later.
  Expected<void> close(Receiver& receiver, Nanoseconds) override {
    network_.progress(pe_, receiver);
    if (!network_.bulks_under_way(pe_)) return {};
    return make_error(ErrorCode::timed_out,
                      fmt::format("PE {} closes with bulks under way", number(pe_)));
  }

 private:
  SimulatedNetwork& network_;
  PeId pe_;
};

Expected<std::unique_ptr<Port>> SimulatedNetwork::open(PeId pe, Pool& pool) {
  if (number(pe) >= pes_.size()) {
    return make_error(ErrorCode::bad_argument,
                      fmt::format("there is no PE {} among {}", number(pe), pes_.size()));
  }
  Pe& state = at(pe);
  if (state.pool != nullptr || state.gone) {
    return make_error(ErrorCode::bad_argument,
                      fmt::format("PE {} is open already, or gone", number(pe)));
  }
  state.pool = &pool;
  ++open_ports_;
  if (state.first_ready != kNoSlot) wake_at(pe, clock_.now());
  return std::unique_ptr<Port>(std::make_unique<SimulatedPort>(*this, pe));
}

void SimulatedNetwork::send(PeId from, PeId to, Frame* frame, const OutgoingBulk& bulk) {
  SHOAL_CHECK(number(to) < pes_.size(), "PE {} of {}", number(to), pes_.size());
  SHOAL_CHECK(frame->size <= kMaxFrame, "a frame of {} bytes", frame->size);
  SHOAL_CHECK(bulk.bytes.empty() || bulk.completion != nullptr, "a bulk without a completion");
  if (any_gone_ && (at(from).gone || at(to).gone)) [[unlikely]] {
    if (frame->owner != nullptr) frame->owner->release(frame);
    if (!bulk.bytes.empty() && !at(from).gone) tell_sender(from, to, bulk.completion, false);
    return;
  }
  const std::uint32_t slot = flights_.take();
  Flight& flight = flights_[slot];
  flight.frame = frame;
  flight.from = from;
  flight.to = to;
  flight.stage = Stage::under_way;
  if (!bulk.bytes.empty()) {
    flight.source = bulk.bytes.data();
    flight.bulk_size = bulk.bytes.size();
    flight.at_sender = bulk.completion;
  }
  ++frames_in_flight_;
  const Nanoseconds leaves = std::max(clock_.now(), at(from).free_at);
  queue_.push(leaves + travel(from, to), EventKind::frame, slot);
}

bool SimulatedNetwork::progress(PeId pe, Receiver& receiver) {
  bool any = false;
  for (;;) {
    Pe& state = at(pe);
    const std::uint32_t slot = state.first_ready;
    if (slot == kNoSlot) return any;
    state.first_ready = flights_[slot].next;
    if (state.first_ready == kNoSlot) state.last_ready = kNoSlot;
    hand_over(slot, receiver);
    any = true;
  }
}

void SimulatedNetwork::hand_over(std::uint32_t slot, Receiver& receiver) {
  // The receiver may send, which ends every reference into flights_.
  const Flight flight = flights_[slot];
  if (flight.stage != Stage::arrived) {
    flights_.give(slot);
    Completion& done = flight.stage == Stage::fetched ? *flight.at_receiver : *flight.at_sender;
    done.run(done, flight.succeeded);
    return;
  }
  if (flight.frame == nullptr || flight.bulk_size == 0) {
    flights_.give(slot);
  } else {
    flights_[slot].frame = nullptr;
    flights_[slot].stage = Stage::announced;
    flights_[slot].next = kNoSlot;
  }
  if (flight.frame == nullptr) return;  // it vanished while it waited here
  --frames_in_flight_;
  receiver.arrived({.frame = flight.frame->bytes(),
                    .bulk_size = flight.bulk_size,
                    .bulk = {.descriptor = this, .detail = (std::uint64_t{drops_} << 32U) | slot}});
  // One thread runs every PE, so this is the owner's.
  if (Pool* owner = flight.frame->owner) owner->release(flight.frame);
}

SimulatedNetwork::Flight& SimulatedNetwork::announced(PeId pe, BulkHandle bulk) {
  const auto slot = static_cast<std::uint32_t>(bulk.detail);
  SHOAL_CHECK(bulk.descriptor == this && slot < flights_.size(), "not a bulk of this network");
  Flight& flight = flights_[slot];
  SHOAL_CHECK(flight.stage == Stage::announced && flight.to == pe,
              "a bulk that is not announced, or no longer, at PE {}", number(pe));
  return flight;
}

void SimulatedNetwork::receive(PeId pe, BulkHandle bulk, std::span<std::byte> target,
                               Completion& completion) {
  if (forgotten(pe, bulk)) return;
  Flight& flight = announced(pe, bulk);
  SHOAL_CHECK(target.size() >= flight.bulk_size, "{} bytes for a bulk of {}", target.size(),
              flight.bulk_size);
  flight.target = target.data();
  flight.at_receiver = &completion;
  flight.stage = Stage::fetching;
  const Nanoseconds asked = std::max(clock_.now(), at(pe).free_at);
  queue_.push(asked + travel(flight.from, pe), EventKind::bulk,
              static_cast<std::uint32_t>(bulk.detail));
}

void SimulatedNetwork::release(PeId pe, BulkHandle bulk) {
  if (forgotten(pe, bulk)) return;
  const Flight flight = announced(pe, bulk);
  flights_.give(static_cast<std::uint32_t>(bulk.detail));
  if (flight.source != nullptr) tell_sender(flight.from, pe, flight.at_sender, true);
}

void SimulatedNetwork::tell_sender(PeId sender, PeId receiver, Completion* completion,
                                   bool succeeded) {
  const std::uint32_t slot = flights_.take();
  Flight& flight = flights_[slot];
  flight.from = receiver;
  flight.to = sender;
  flight.at_sender = completion;
  flight.succeeded = succeeded;
  flight.stage = Stage::returning;
  const Nanoseconds leaves = std::max(clock_.now(), at(receiver).free_at);
  queue_.push(leaves + travel(receiver, sender), EventKind::returned, slot);
}

}  // namespace shoal::comm
