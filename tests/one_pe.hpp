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
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace one_pe {

using namespace shoal;  // NOLINT(google-build-using-namespace): a test's vocabulary

/// Bulks are announced one at a time, and consist of zeros.
class HandingPort final : public comm::Port {
 public:
  explicit HandingPort(comm::Pool& pool) : pool_(pool) {}

  void announce(std::size_t size) {
    size_ = size;
    open_ = size != 0;
  }
  bool bulk_is_open() const noexcept { return open_; }

  /// With the bulk that was announced, if any.
  void hand_over(std::span<const std::byte> frame) { frame_ = frame, waits_ = true; }

  void send(comm::PeId, comm::Frame* frame, comm::OutgoingBulk bulk) override {
    pool_.release(frame);
    if (bulk.completion != nullptr) bulk.completion->run(*bulk.completion, true);
  }
  bool progress(comm::Receiver& receiver) override {
    if (!std::exchange(waits_, false)) return false;
    receiver.arrived({frame_, size_, {this, 0}});
    return true;
  }
  void receive(comm::BulkHandle, std::span<std::byte> target, comm::Completion& done) override {
    SHOAL_CHECK(std::exchange(open_, false), "a bulk that is not there is received");
    SHOAL_CHECK(target.size() >= size_, "room for {} of {} bytes", target.size(), size_);
    std::memset(target.data(), 0, size_);
    done.run(done, true);
  }
  void release(comm::BulkHandle) override {
    SHOAL_CHECK(std::exchange(open_, false), "a bulk that is not there is released");
  }
  bool arm() override { return true; }
  int event_fd() const noexcept override { return -1; }
  comm::Expected<void> close(comm::Receiver&, comm::Nanoseconds) override { return {}; }

 private:
  comm::Pool& pool_;
  std::span<const std::byte> frame_;
  bool waits_ = false;
  std::size_t size_ = 0;
  bool open_ = false;
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
    while (failure_.empty() && pe_.step()) {
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
