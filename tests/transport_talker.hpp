// SPDX-License-Identifier: Apache-2.0
// The problem: most scenarios of the transport contract send messages whose bytes can be checked,
// and count what comes. Offered: a party that says, hears and takes, and knows when all its
// transfers have ended.
#pragma once

#include "transport_party.hpp"

#include <array>
#include <deque>
#include <map>

namespace contract {

class Talker : public Party {
 public:
  /// True when every bulk that was sent or taken has ended.
  bool settled() const { return ended_ == transfers_.size(); }
  std::uint64_t heard() const { return heard_; }
  std::uint64_t heard(std::size_t frame, std::size_t bulk) const {
    const auto found = counts_.find({frame, bulk});
    return found == counts_.end() ? 0 : found->second;
  }
  std::string state() const override {
    return fmt::format("{} heard, {} of {} transfers ended", heard_, ended_, transfers_.size());
  }

 protected:
  /// Sends `frame_size` patterned bytes, with `bulk_size` more beside them.
  void say(unsigned to, std::size_t frame_size, std::size_t bulk_size) {
    Frame* frame = take_frame(*pool, frame_size);
    fill(frame->bytes(), frame_size);
    if (bulk_size == 0) return port->send(pe_of(to), frame);
    Transfer& transfer = begin(bulk_size);
    fill(transfer.bytes, bulk_size);
    port->send(pe_of(to), frame, {transfer.bytes, &transfer});
  }
  void hear(const Arrival& arrival) {
    ++heard_;
    ++counts_[{arrival.frame.size(), arrival.bulk_size}];
    expect(filled(arrival.frame, arrival.frame.size()), "a byte of a frame changed");
  }
  /// Receives a bulk whose content was made with `salt`.
  void take(BulkHandle bulk, std::size_t size, std::uint64_t salt) {
    Transfer& transfer = begin(size);
    transfer.incoming = true;
    transfer.salt = salt;
    port->receive(bulk, transfer.bytes, transfer);
  }
  void take(BulkHandle bulk, std::size_t size) { take(bulk, size, size); }

  /// Sleeps until something arrives, if nothing is at hand.
  void doze() {
    if (port->event_fd() < 0 || !port->arm()) return;
    pollfd entry{port->event_fd(), POLLIN, 0};
    const int ready = poll(&entry, 1, may_block ? 5'000 : 0);
    expect(ready != 0 || !may_block, "slept through an arrival, or nobody sent one");
  }

 private:
  struct Transfer : Completion {
    Talker* party = nullptr;
    std::vector<std::byte> bytes;
    std::uint64_t salt = 0;
    bool incoming = false;
    bool ended = false;
  };
  Transfer& begin(std::size_t size) {
    Transfer& transfer = transfers_.emplace_back();
    transfer.party = this;
    transfer.bytes.resize(size);
    transfer.run = [](Completion& self, bool succeeded) noexcept {
      auto& ended = static_cast<Transfer&>(self);
      ended.party->end(ended, succeeded);
    };
    return transfer;
  }
  void end(Transfer& transfer, bool succeeded) {
    expect(succeeded, "a transfer failed");
    expect(!transfer.ended, "a completion ran twice");
    if (transfer.incoming)
      expect(filled(transfer.bytes, transfer.salt), "a byte of a bulk changed");
    transfer.ended = true;
    ++ended_;
    transfer.bytes = {};  // sent memory may be reused from here on
  }

  std::deque<Transfer> transfers_;  // a deque: completions stay where they are
  std::size_t ended_ = 0;
  std::uint64_t heard_ = 0;
  std::map<std::pair<std::size_t, std::size_t>, std::uint64_t> counts_;
};

}  // namespace contract
