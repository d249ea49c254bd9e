// SPDX-License-Identifier: Apache-2.0
#include <shoal/actors/bulk.hpp>
#include <shoal/actors/local.hpp>
#include <shoal/runtime/transfer.hpp>

#include <new>

namespace shoal::actors {

BulkOwner BulkOwner::of_frame(comm::Frame* frame) noexcept {
  return BulkOwner(frame, [](void* pointer) noexcept {
    runtime::this_pe().pool().release(static_cast<comm::Frame*>(pointer));
  });
}

namespace {
// The lent memory was let go of on another PE: the lender's future is resolved on its own.
struct ReleasedMessage : Message {
  ReleasedMessage(comm::Origin origin, Lender* what) noexcept
      : Message(origin, kType), lender(what) {}
  static void run(Pe& pe, Message* message) {
    static_cast<ReleasedMessage*>(message)->lender->promise.set();
    drop(pe, message);
  }
  static void drop(Pe& pe, Message* message) noexcept {
    delete static_cast<ReleasedMessage*>(message)->lender;  // NOLINT: owned by the message
    pe.pool().release(message);
  }
  static constexpr MessageType kType{&ReleasedMessage::run, &ReleasedMessage::drop, nullptr};
  Lender* lender;
};
}  // namespace

void Lender::let_go(void* lender) noexcept {
  auto* own = static_cast<Lender*>(lender);
  Pe& here = runtime::this_pe();
  if (&here == &own->home) {
    own->promise.set();
    delete own;  // NOLINT: owned since borrowed_view
    return;
  }
  here.send_to(own->home, here.pool().make<ReleasedMessage>(sizeof(ReleasedMessage), own));
}

namespace detail {
comm::Frame* take_arrived(Reader::Run run) {
  Pe& pe = runtime::this_pe();
  ArrivingBulk& arriving = Local::of(pe).arriving;
  if (run.is_bulk && arriving.frame != nullptr) return std::exchange(arriving.frame, nullptr);
  comm::Frame* copy = comm::take_frame(pe.pool(), run.bytes);
  std::memcpy(copy->data(), run.data, run.bytes);
  return copy;
}

comm::BulkHandle take_announced() {
  ArrivingBulk& arriving = Local::of(runtime::this_pe()).arriving;
  arriving.announced = false;
  return arriving.handle;
}

namespace {
struct Receiving : runtime::Transfer, runtime::Pooled {
  Receiving() noexcept : Transfer(&Receiving::done) {}
  static void done(comm::Completion& self, bool succeeded) noexcept {
    const std::unique_ptr<Receiving> own(static_cast<Receiving*>(&self));
    Pe& pe = runtime::this_pe();
    pe.release_hold(false);
    if (succeeded) {
      pe.at_once([&] { own->promise.set(); });
    } else {
      own->promise.fail(std::make_exception_ptr(
          RemoteError("shoal::TransferFailed", "the sender of this array is gone")));
    }
  }
  runtime::Promise<void> promise;
};
}  // namespace

namespace {
// Announced data is owed here, and the sender holds it too: only its receiver can end either.
void hold_both(Pe& pe) noexcept {
  pe.hold(true);
  ++pe.counters.passive;
}
void release_both(Pe& pe) noexcept {
  pe.release_hold(true);
  --pe.counters.passive;
}
}  // namespace

RemoteBulk::RemoteBulk(comm::BulkHandle handle) : handle_(handle), pe_(&runtime::this_pe()) {
  hold_both(*pe_);
}

RemoteBulk::~RemoteBulk() {
  if (pe_ == nullptr) return;
  SHOAL_CHECK(pe_ == runtime::current_pe, "an Incoming died on a PE that did not receive it");
  release_both(*pe_);
  pe_->port()->release(handle_);
}

runtime::Future<void> RemoteBulk::receive(std::span<std::byte> target) {
  Pe& pe = *std::exchange(pe_, nullptr);
  SHOAL_CHECK(&pe == runtime::current_pe, "an Incoming is received on a PE that did not get it");
  release_both(pe);
  pe.hold(false);
  auto* receiving = new Receiving;  // NOLINT: ends itself
  auto future = receiving->promise.future();
  pe.port()->receive(handle_, target, *receiving);
  return future;
}
}  // namespace detail

}  // namespace shoal::actors
