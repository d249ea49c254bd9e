// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/in_process.hpp>

#include <shoal/comm/inbox.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <vector>

namespace shoal::comm {

namespace {

// What lies in an inbox, told by Block::flags, which are the transport's while it owns the block.
enum Kind : std::uint8_t {
  kPlain,      // a Frame
  kAnnounced,  // an Announcement on its way to the receiver
  kEnded,      // the same on its way back: its memory is not needed any more
};

class InProcessPort;

/// A frame with a bulk beside it. It belongs to the sender's pool and always returns to the sender.
struct Announcement : Block {
  explicit Announcement(Origin origin) noexcept : Block(origin) {}
  Frame* frame = nullptr;
  OutgoingBulk bulk;
  InProcessPort* sender = nullptr;
};

/// The ports of a process by PE; a slot is written once by the thread that opens the port (release)
/// and read by senders (acquire).
using Ports = std::vector<std::atomic<InProcessPort*>>;

class InProcessPort final : public Port {
 public:
  InProcessPort(Ports& ports, PeId first_pe, Pool& pool, int event_fd) noexcept
      : ports_(ports), first_pe_(first_pe), pool_(pool), event_fd_(event_fd) {}
  ~InProcessPort() override;

  void send(PeId to, Frame* frame, OutgoingBulk bulk) override;
  bool progress(Receiver& receiver) override;
  void receive(BulkHandle bulk, std::span<std::byte> target, Completion& completion) override;
  void release(BulkHandle bulk) override { send_back(bulk); }
  bool arm() override;
  int event_fd() const noexcept override { return event_fd_; }
  Expected<void> close(Receiver& receiver, Nanoseconds deadline) override;

 private:
  static constexpr unsigned kMostPerProgress = 64;

  void post(Block* block) noexcept;  // any thread
  void handle(Block* block, Receiver& receiver);
  void send_back(BulkHandle bulk) noexcept;
  void end_received(BulkHandle bulk, std::span<std::byte> target) noexcept;
  void wake() noexcept;  // any thread

  Ports& ports_;
  PeId first_pe_;
  Pool& pool_;
  int event_fd_;
  bool armed_ = false;
  std::uint64_t under_way_ = 0;  // bulks sent and not yet ended
  Inbox inbox_;
};

InProcessPort::~InProcessPort() {
  while (Block* block = inbox_.pop()) {
    if (block->flags == kAnnounced) pool_.release(static_cast<Announcement*>(block)->frame);
    pool_.release(block);
  }
  pool_.flush_returns();
  if (event_fd_ >= 0) ::close(event_fd_);
}

void InProcessPort::send(PeId to, Frame* frame, OutgoingBulk bulk) {
  const std::size_t slot = number(to) - number(first_pe_);
  SHOAL_CHECK(slot < ports_.size(), "PE {} is not of this process", number(to));
  // acquire pairs with the release in open
  InProcessPort* port = ports_[slot].load(std::memory_order_acquire);
  SHOAL_CHECK(port != nullptr, "PE {} has no port", number(to));
  if (bulk.bytes.empty()) {
    frame->flags = kPlain;
    pool_.gave();
    port->post(frame);
    return;
  }
  auto* announcement = pool_.make<Announcement>(sizeof(Announcement));
  announcement->flags = kAnnounced;
  announcement->frame = frame;
  announcement->bulk = bulk;
  announcement->sender = this;
  ++under_way_;
  port->post(announcement);
}

void InProcessPort::post(Block* block) noexcept {
  if (inbox_.push(block)) wake();
}

void InProcessPort::wake() noexcept {
  const std::uint64_t one = 1;
  while (::write(event_fd_, &one, sizeof one) < 0 && errno == EINTR) {
  }
}

bool InProcessPort::progress(Receiver& receiver) {
  if (armed_) {
    armed_ = false;
    inbox_.awake();
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t drained = ::read(event_fd_, &count, sizeof count);
  }
  unsigned handled = 0;
  while (handled < kMostPerProgress) {
    Block* block = inbox_.pop();
    if (block == nullptr) break;
    handle(block, receiver);
    ++handled;
  }
  return handled != 0;
}

void InProcessPort::handle(Block* block, Receiver& receiver) {
  if (block->flags == kPlain) {
    auto* frame = static_cast<Frame*>(block);
    receiver.arrived({frame->bytes(), 0, {}});
    pool_.release(frame);
    return;
  }
  auto* announcement = static_cast<Announcement*>(block);
  if (block->flags == kAnnounced) {
    Frame* frame = announcement->frame;  // the announcement may be gone when arrived returns
    receiver.arrived({frame->bytes(), announcement->bulk.bytes.size(), {announcement, 0}});
    pool_.release(frame);
    return;
  }
  Completion* completion = announcement->bulk.completion;
  --under_way_;
  pool_.release(announcement);
  completion->run(*completion, true);
}

void InProcessPort::receive(BulkHandle bulk, std::span<std::byte> target, Completion& completion) {
  const auto* announcement = static_cast<Announcement*>(bulk.descriptor);
  const std::span source = announcement->bulk.bytes;
  SHOAL_CHECK(target.size() >= source.size(), "{} bytes are to be received into {}", source.size(),
              target.size());
  std::memcpy(target.data(), source.data(), source.size());
  send_back(bulk);
  completion.run(completion, true);
}

void InProcessPort::send_back(BulkHandle bulk) noexcept {
  auto* announcement = static_cast<Announcement*>(bulk.descriptor);
  announcement->flags = kEnded;
  announcement->sender->post(announcement);
}

bool InProcessPort::arm() {
  if (event_fd_ < 0) return true;
  armed_ = inbox_.prepare_sleep();
  return armed_;
}

Expected<void> InProcessPort::close(Receiver& receiver, Nanoseconds deadline) {
  do {
    while (progress(receiver)) {
    }
    if (under_way_ == 0) return {};
  } while (steady_clock().now() < deadline);
  return make_error(
      ErrorCode::timed_out,
      fmt::format("{} transfers had not ended when the port's time to close was up", under_way_));
}

class InProcessTransport final : public Transport {
 public:
  explicit InProcessTransport(InProcessOptions options)
      : options_(options), ports_(options.alone ? 0 : options.pes) {}

  std::string description() const override {
    return options_.alone ? "none (one process)" : "in-process";
  }

  Expected<std::unique_ptr<Port>> open(PeId pe, Pool& pool) override {
    const std::uint32_t slot = number(pe) - number(options_.first_pe);
    SHOAL_CHECK(slot < options_.pes, "PE {} is not of this process", number(pe));
    int event_fd = -1;
    if (!options_.alone) {
      event_fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
      if (event_fd < 0) return system_error("no eventfd for a PE's port", errno);
    }
    auto port = std::make_unique<InProcessPort>(ports_, options_.first_pe, pool, event_fd);
    if (!options_.alone) ports_[slot].store(port.get(), std::memory_order_release);
    return std::unique_ptr<Port>(std::move(port));
  }

 private:
  InProcessOptions options_;
  Ports ports_;
};

}  // namespace

std::unique_ptr<Transport> make_in_process_transport(InProcessOptions options) {
  return std::make_unique<InProcessTransport>(options);
}

}  // namespace shoal::comm
