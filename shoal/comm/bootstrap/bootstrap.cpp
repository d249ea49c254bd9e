// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/bootstrap/bootstrap.hpp>

#include <shoal/comm/bootstrap/connection.hpp>
#include <shoal/comm/bootstrap/pmix_start.hpp>

#include <mutex>
#include <unordered_map>

namespace shoal::comm {

/// The addresses of a process that was started alone. Any thread.
class Bootstrap::LocalBook {
 public:
  void publish(PeId pe, std::span<const std::byte> address) {
    const std::lock_guard lock(mutex_);
    addresses_[number(pe)].assign(address.begin(), address.end());
  }

  Expected<std::vector<std::byte>> lookup(PeId pe) {
    const std::lock_guard lock(mutex_);
    const auto found = addresses_.find(number(pe));
    if (found != addresses_.end()) return found->second;
    return make_error(ErrorCode::unreachable, fmt::format("PE {} has no address", number(pe)));
  }

 private:
  std::mutex mutex_;
  std::unordered_map<std::uint32_t, std::vector<std::byte>> addresses_;
};

Bootstrap::Bootstrap(std::unique_ptr<Connection> connection, std::uint32_t pes,
                     std::unique_ptr<PmixStart> pmix)
    : pmix_(std::move(pmix)),
      connection_(std::move(connection)),
      alone_layout_(pes),
      book_(connection_ ? nullptr : std::make_unique<LocalBook>()) {}

Bootstrap::~Bootstrap() = default;

Expected<std::unique_ptr<Bootstrap>> Bootstrap::connect(Identity identity, StopHandler on_stop) {
  if (started_by_launcher()) {
    auto launch = take_launch();
    if (!launch) return launch.error();
    return connect(*launch, std::move(identity), std::move(on_stop));
  }
  if (!Pmix::present()) return std::make_unique<Bootstrap>(nullptr, identity.alone_pes(), nullptr);
  auto pmix = PmixStart::join();
  if (!pmix) return pmix.error();
  const Launch launch = (*pmix)->launch();
  return open(launch, std::move(identity), std::move(on_stop), std::move(*pmix));
}

Expected<std::unique_ptr<Bootstrap>> Bootstrap::connect(const Launch& launch, Identity identity,
                                                        StopHandler on_stop) {
  return open(launch, std::move(identity), std::move(on_stop), nullptr);
}

Expected<std::unique_ptr<Bootstrap>> Bootstrap::open(const Launch& launch, Identity identity,
                                                     StopHandler on_stop,
                                                     std::unique_ptr<PmixStart> pmix) {
  identity.complete();
  auto connection = std::make_unique<Connection>(launch, std::move(identity), std::move(on_stop));
  if (auto opened = connection->open(launch); !opened) return opened.error();
  return std::make_unique<Bootstrap>(std::move(connection), 1, std::move(pmix));
}

ProcessId Bootstrap::process() const noexcept {
  return connection_ ? connection_->process() : ProcessId{0};
}

const JobLayout& Bootstrap::layout() const noexcept {
  return connection_ ? connection_->layout() : alone_layout_;
}

Share Bootstrap::share() const noexcept {
  return connection_ ? connection_->share() : Share{0, alone_layout_.total_pes()};
}

bool Bootstrap::alone() const noexcept { return !connection_; }

bool Bootstrap::hosted() const noexcept { return pmix_ != nullptr; }

bool Bootstrap::host_lost() const noexcept { return hosted() && connection_->lost(); }

Expected<void> Bootstrap::publish(PeId pe, std::span<const std::byte> address) {
  if (address.size() > kMaxAddress) {
    return make_error(ErrorCode::bad_argument,
                      fmt::format("an address of {} bytes", address.size()));
  }
  if (!connection_) return book_->publish(pe, address), Expected<void>{};
  return connection_->send(
      FrameWriter(FrameType::put_address).u32(number(pe)).bytes(address).finish());
}

Expected<std::vector<std::byte>> Bootstrap::lookup(PeId pe) {
  if (!connection_) return book_->lookup(pe);
  return connection_->lookup(pe, steady_clock().now() + kLookupLimit);
}

Expected<void> Bootstrap::barrier(std::string_view name, Nanoseconds deadline) {
  return connection_ ? connection_->barrier(name, deadline) : Expected<void>{};
}

void Bootstrap::exit(int code) {
  if (!connection_) return;
  // If it cannot be sent, the connection is lost and the stop handler says so.
  (void)connection_->send(
      FrameWriter(FrameType::exit).u32(static_cast<std::uint32_t>(code)).finish());
}

void Bootstrap::failed(std::string_view text, int code) {
  if (connection_) connection_->failed(text, code);
}

bool Bootstrap::ending() const { return connection_ && connection_->ending(); }

void Bootstrap::interrupted(int signal_number) noexcept {
  if (connection_) connection_->interrupted(signal_number);
}

void Bootstrap::on_report(std::function<void()> ask) {
  if (connection_) connection_->on_report(std::move(ask));
}

void Bootstrap::report(std::string_view text) {
  if (!connection_) return;
  (void)connection_->send(FrameWriter(FrameType::report).text(text, kMaxReason).finish());
}

void Bootstrap::heartbeat(std::uint64_t steps) {
  if (!connection_) return;
  (void)connection_->send(FrameWriter(FrameType::heartbeat).u64(steps).finish());
}

}  // namespace shoal::comm
