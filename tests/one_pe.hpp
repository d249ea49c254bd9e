// SPDX-License-Identifier: Apache-2.0
// The problem: what arrives from another process is read on a PE, into its pool, beside a port that
// holds what was announced. Offered: PE 0 of a job of two processes, with the real actors, the
// program left out, and a port that hands over what it is given and checks that its bulks are
// ended.
#pragma once

#include <shoal/actors/actor_layer.hpp>
#include <shoal/actors/local.hpp>
#include <shoal/runtime/pe.hpp>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace one_pe {

using namespace shoal;  // NOLINT(google-build-using-namespace): a test's vocabulary

/// What it hands over arrives at once; what is sent is dropped. Bulks consist of zeros.
class HandingPort final : public comm::Port {
 public:
  explicit HandingPort(comm::Pool& pool) : pool_(pool) {}

  /// `frame`, with a bulk of that size beside it, arrives at the next progress.
  void hand_over(std::span<const std::byte> frame, std::size_t bulk_size = 0) {
    next_ = {frame, bulk_size, {}};
    waits_ = true;
    if (bulk_size != 0) next_.bulk = announce(bulk_size);
  }
  comm::BulkHandle announce(std::size_t size) {
    open_[++announced_] = size;
    return {this, announced_};
  }
  bool bulk_is_open() const noexcept { return !open_.empty(); }

  void send(comm::PeId, comm::Frame* frame, comm::OutgoingBulk bulk) override {
    pool_.release(frame);
    if (bulk.completion != nullptr) bulk.completion->run(*bulk.completion, true);
  }
  bool progress(comm::Receiver& receiver) override {
    if (!std::exchange(waits_, false)) return false;
    receiver.arrived(next_);
    return true;
  }
  void receive(comm::BulkHandle bulk, std::span<std::byte> to, comm::Completion& done) override {
    const std::size_t size = end(bulk);
    SHOAL_CHECK(to.size() >= size, "room for {} of {} bytes", to.size(), size);
    std::memset(to.data(), 0, size);
    done.run(done, true);
  }
  void release(comm::BulkHandle bulk) override { (void)end(bulk); }
  bool arm() override { return true; }
  int event_fd() const noexcept override { return -1; }
  comm::Expected<void> close(comm::Receiver&, comm::Nanoseconds) override { return {}; }

 private:
  std::size_t end(comm::BulkHandle bulk) {
    const auto found = open_.extract(bulk.detail);
    SHOAL_CHECK(!found.empty(), "a bulk is ended that is not there");
    return found.mapped();
  }

  comm::Pool& pool_;
  comm::Arrival next_;
  bool waits_ = false;
  std::uint64_t announced_ = 0;
  std::map<std::uint64_t, std::size_t> open_;  // sizes of those that nobody has ended
};

class OnePe final : private runtime::Host {
 public:
  OnePe() : layer_({}, nullptr, nullptr), pe_(process_, comm::PeId{0}), pes_{&pe_} {
    process_.shape = {2, 1};
    process_.clock = &clock_;
    process_.layer = &layer_;
    process_.host = this;
    process_.pes = pes_;
    runtime::current_pe = &pe_;
    auto port = std::make_unique<HandingPort>(pe_.pool());
    port_ = port.get();
    pe_.open(std::move(port));
  }
  OnePe(const OnePe&) = delete;
  OnePe& operator=(const OnePe&) = delete;
  ~OnePe() override {
    pe_.close(0);
    SHOAL_CHECK(!failure_.empty() || !port_->bulk_is_open(), "nobody ended a bulk");
    pe_.close_port();
    runtime::current_pe = nullptr;
  }

  runtime::Pe& pe() noexcept { return pe_; }
  HandingPort& port() noexcept { return *port_; }
  actors::Local& local() noexcept { return actors::Local::of(pe_); }
  /// What ended the job, if anything did.
  const std::string& failure() const noexcept { return failure_; }
  /// Until nothing is left to do, or the job is over.
  void run() {
    while (failure_.empty() && (pe_.step() || pe_.settle())) {
    }
  }

 private:
  void wake(runtime::Pe&) noexcept override {}
  void timer_set(runtime::Pe&, comm::Nanoseconds) noexcept override {}
  void fail(int code, const std::string& text) override {
    SHOAL_CHECK(code != 0 && !text.empty(), "a failure without a reason");
    failure_ = text;
  }
  void say(const std::string&) override {}

  comm::VirtualClock clock_;
  runtime::Process process_;
  actors::ActorLayer layer_;
  runtime::Pe pe_;
  std::array<runtime::Pe*, 1> pes_;
  HandingPort* port_ = nullptr;
  std::string failure_;
};

}  // namespace one_pe
