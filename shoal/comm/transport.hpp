// SPDX-License-Identifier: Apache-2.0
// The problem: bytes must reach a PE of another process over UCX, over threads in tests, and over a
// network that a simulator makes up, and nobody above may notice which. Offered: a Port, one PE's
// end of a transport, and the contract that all three keep and one shared test body checks.
//
// Contract.
//  1. A Port belongs to one PE: every call on it is made by the thread that runs that PE.
//  2. `send` takes the frame over, whatever happens. The frame arrives exactly once, whole and
//  unchanged, or
//     the peer's process is lost. Order between two PEs is not promised. It never blocks and runs
//     no entry. It may call `progress` inside, so arrivals may be handed over during a send.
//  3. A bulk (memory beside the frame, announced with it) must stay readable and unchanged until
//  its
//     Completion has run, on the sender's PE, in `progress` or within `send` itself.
//  4. `progress` hands what has arrived to the Receiver, on this thread, and runs completions. A
//  receiver may
//     call `send`, `receive` and `release` from there, but not `progress`.
//  5. An arrival's frame bytes are the receiver's to read during `arrived` only. Its bulk stays
//  announced
//     until the receiver calls `receive` (once, into memory of at least its size) or `release`.
//  6. A bulk is never empty: a send of 0 bytes beside a frame is a send without a bulk.
//  7. `arm` returns true when nothing is at hand and a later arrival makes `event_fd` readable;
//  false means
//     call `progress` again. Arm, then check all other sources, then sleep.
//  8. Sizes are 64-bit everywhere. A frame is at most kMaxFrame bytes; more is a bug of the sender.
//  9. `close` waits until what was sent has left, up to a deadline, while going on to receive.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/comm/error.hpp>
#include <shoal/comm/frame.hpp>
#include <shoal/comm/ids.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace shoal::comm {

inline constexpr std::size_t kMaxFrame = std::size_t{1} << 40U;

/// Called once when a transfer has ended; embedded in whatever waits, so nothing is allocated for
/// it.
struct Completion {
  void (*run)(Completion& self, bool succeeded) noexcept = nullptr;
};

/// Memory beside a frame: sent from where it lies.
struct OutgoingBulk {
  std::span<const std::byte> bytes;  ///< empty: no bulk
  Completion* completion = nullptr;  ///< when `bytes` is not empty: runs when they may be reused
};

/// Names an announced bulk at the port that received it.
struct BulkHandle {
  void* descriptor = nullptr;
  std::uint64_t detail = 0;  ///< the transport's own
};

struct Arrival {
  std::span<const std::byte> frame;
  std::size_t bulk_size = 0;  ///< 0: none
  BulkHandle bulk;
};

class Receiver {
 public:
  virtual void arrived(const Arrival& arrival) = 0;

 protected:
  ~Receiver() = default;
};

class Port {
 public:
  virtual ~Port() = default;
  virtual void send(PeId to, Frame* frame, OutgoingBulk bulk = {}) = 0;
  /// True if anything happened.
  virtual bool progress(Receiver& receiver) = 0;
  virtual void receive(BulkHandle bulk, std::span<std::byte> target, Completion& completion) = 0;
  virtual void release(BulkHandle bulk) = 0;
  virtual bool arm() = 0;
  virtual int event_fd() const noexcept = 0;  ///< -1: none, nothing ever arrives by itself
  /// "128 messages on their way to PE 3, 20 more wait for them", a line each; empty: none.
  virtual std::vector<std::string> describe_unsent() const { return {}; }
  virtual Expected<void> close(Receiver& receiver, Nanoseconds deadline) = 0;
};

/// One process's transport: makes the ports of its PEs.
class Transport {
 public:
  virtual ~Transport() = default;
  /// "ucx 1.13.1 (/usr/lib/…/libucp.so.0; self,posix,cma)"
  virtual std::string description() const = 0;
  /// Called by the thread that will run `pe`, before anything is sent to it. `pool` is that PE's.
  virtual Expected<std::unique_ptr<Port>> open(PeId pe, Pool& pool) = 0;
};

}  // namespace shoal::comm
