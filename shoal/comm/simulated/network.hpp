// SPDX-License-Identifier: Apache-2.0
//
// Bugs of message order show up once in a million runs on a real machine, and never twice. Offered:
// a network that one thread makes up under virtual time, for thousands of PEs, with delays,
// overtaking, stalls and losses drawn from a seed. Equal seeds and equal programs give equal runs,
// which `event_hash` proves.
//
// A driver takes what happens next and runs the PE it happens to:
//
//   while (auto pe = network.next()) step_until_idle(*pe);
//
// While a PE runs, the clock stands still. Its step takes `step_cost` (and what `busy` adds): what
// it sends leaves only then, and what arrives meanwhile waits for it.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/comm/random.hpp>
#include <shoal/comm/simulated/delays.hpp>
#include <shoal/comm/simulated/event_queue.hpp>
#include <shoal/comm/simulated/slots.hpp>
#include <shoal/comm/transport.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::comm {

struct SimulatedOptions {
  struct Loss {
    ProcessId process;
    Nanoseconds at;
  };

  std::uint64_t seed = 1;
  std::uint32_t processes = 1;
  std::uint32_t pes_per_process = 1;
  Nanoseconds min_delay = 1 * kMicrosecond;    ///< above 0
  Nanoseconds max_delay = 100 * kMicrosecond;  ///< see LinkDelays for what lies between
  double reorder = 0;             ///< chance that a frame takes up to ten times max_delay
  double stall = 0;               ///< chance, per arrival or wake-up, that its process stalls
  Nanoseconds stall_ns = 0;       ///< how long at most
  Nanoseconds step_cost = 0;      ///< virtual time that a PE is busy after each `next`
  std::vector<Loss> losses = {};  ///< processes lost at set times
};

/// One thread; outlives its ports. It keeps about 32 bytes a PE, and a port takes as much again.
class SimulatedNetwork final : public Transport {
 public:
  explicit SimulatedNetwork(const SimulatedOptions& options);
  SimulatedNetwork(const SimulatedNetwork&) = delete;
  SimulatedNetwork& operator=(const SimulatedNetwork&) = delete;
  ~SimulatedNetwork() override;

  std::string description() const override;
  /// Frames that arrived before the port was open are waiting there. A port that is destroyed
  /// leaves nothing behind that refers to its pool; what is sent to it later vanishes.
  Expected<std::unique_ptr<Port>> open(PeId pe, Pool& pool) override;

  Clock& clock() noexcept { return clock_; }

  /// Sets the clock to the next event that gives a PE something to do, and returns that PE: frames
  /// or completions are at hand at its port, or it asked to be woken. Nothing: no event is left.
  std::optional<PeId> next();

  /// The PE that may be returned `n` calls after the coming one, up to 15: a hint for a driver with
  /// thousands of PEs to prefetch what it will step.
  std::optional<PeId> soon(std::uint32_t n) const noexcept;

  /// `next` will return `pe` at `when`; at once, if that has passed, but not before the PE has
  /// time. Costs a walk over the different times that this PE still waits for.
  void wake_at(PeId pe, Nanoseconds when);

  /// The step that `pe` is in takes `duration` longer.
  void busy(PeId pe, Nanoseconds duration);

  /// Ends a process at once: its PEs are never returned again, frames from and to it vanish, bulks
  /// to it complete with false at their senders. Its ports and pools may die at any time from now
  /// on.
  void lose(ProcessId process);
  bool lost(ProcessId process) const { return lost_[number(process)] != 0; }
  /// Sets what is called within `lose`, and within `next` for scripted losses; it may call
  /// `wake_at`.
  void on_lost(std::function<void(ProcessId)> callback) { on_lost_ = std::move(callback); }

  /// Forgets every event, frame, bulk and wake-up without running a completion. Called before many
  /// ports and pools die while traffic is under way; otherwise each port looks for what it sent.
  void drop_all();

  std::uint32_t pes() const noexcept { return static_cast<std::uint32_t>(pes_.size()); }
  ProcessId process_of(PeId pe) const noexcept {
    return ProcessId{number(pe) / options_.pes_per_process};
  }
  /// A hash of the time, kind, sender, receiver and size of every event so far, in order.
  std::uint64_t event_hash() const noexcept { return hash_; }
  std::uint64_t events() const noexcept { return events_; }
  /// Frames sent and not yet handed to a receiver.
  std::uint64_t frames_in_flight() const noexcept { return frames_in_flight_; }

 private:
  friend class SimulatedPort;

  enum class Stage : std::uint8_t {
    none,
    under_way,  // the frame travels: an event holds the slot
    arrived,    // the frame lies at the receiver's port: its list holds the slot
    announced,  // the receiver knows of the bulk: its handle holds the slot
    fetching,   // the bulk travels: an event holds the slot
    fetched,    // the receiver's completion is at hand: its list holds the slot
    returning,  // word of the end travels to the sender, `to`: an event holds the slot
    returned,   // the sender's completion is at hand: its list holds the slot
  };

  struct alignas(64) Flight {
    Frame* frame = nullptr;             // nullptr: handed over, or vanished
    const std::byte* source = nullptr;  // nullptr: no bulk, or its sender is gone
    std::byte* target = nullptr;
    std::size_t bulk_size = 0;
    Completion* at_sender = nullptr;
    Completion* at_receiver = nullptr;
    PeId from = kNoPe;
    PeId to = kNoPe;
    std::uint32_t next = kNoSlot;
    Stage stage = Stage::none;
    bool succeeded = false;
  };
  static_assert(sizeof(Flight) == 64);

  struct WakeUp {
    Nanoseconds when = 0;
    std::uint32_t next = kNoSlot;
  };

  struct Pe {
    Nanoseconds free_at = 0;
    Pool* pool = nullptr;                 // nullptr: no port
    std::uint32_t first_ready = kNoSlot;  // flights at hand at the port
    std::uint32_t last_ready = kNoSlot;
    std::uint32_t first_wake_up = kNoSlot;  // times asked for, earliest first; each has an event
    bool run_pending = false;               // an event of kind run is under way
    bool gone = false;                      // lost, or its port was destroyed
  };
  static_assert(sizeof(Pe) == 32);

  Pe& at(PeId pe) noexcept { return pes_[number(pe)]; }
  Nanoseconds travel(PeId from, PeId to) noexcept;
  void record(EventKind kind, PeId from, PeId to, std::size_t size) noexcept;

  // What happens. The PE that it gives something to do, if that PE has time now.
  void prefetch() noexcept;
  std::optional<PeId> happen(const Event& event);
  std::optional<PeId> frame_arrives(std::uint32_t slot);
  std::optional<PeId> bulk_arrives(std::uint32_t slot);
  std::optional<PeId> end_is_known(std::uint32_t slot);
  std::optional<PeId> wakes(PeId pe);
  std::optional<PeId> run_now_or_later(PeId pe);
  std::optional<PeId> put_at_hand(std::uint32_t slot);
  void maybe_stall(PeId pe);
  Nanoseconds has_time_at(PeId pe) noexcept;

  // What ports ask for.
  void send(PeId from, PeId to, Frame* frame, const OutgoingBulk& bulk);
  bool progress(PeId pe, Receiver& receiver);
  void hand_over(std::uint32_t slot, Receiver& receiver);
  void receive(PeId pe, BulkHandle bulk, std::span<std::byte> target, Completion& completion);
  void release(PeId pe, BulkHandle bulk);
  Flight& announced(PeId pe, BulkHandle bulk);
  bool forgotten(PeId pe, BulkHandle bulk) const noexcept {
    return pes_[number(pe)].gone || bulk.detail >> 32U != drops_;
  }
  void tell_sender(PeId sender, PeId receiver, Completion* completion, bool succeeded);
  bool bulks_under_way(PeId pe) noexcept;
  void close(PeId pe);

  // Endings.
  void discard(Frame*& frame) noexcept;
  void take_over_frames(const Pool* pool);
  void sender_goes(std::uint32_t slot, bool with_frames);
  void receiver_goes(std::uint32_t slot);
  void remove(PeId first, PeId last, bool with_frames);

  SimulatedOptions options_;
  VirtualClock clock_;
  Random random_;
  LinkDelays delays_;
  EventQueue queue_;
  Slots<Flight> flights_;
  Slots<WakeUp> wake_ups_;
  std::vector<Pe> pes_;
  std::vector<Nanoseconds> stalled_until_;  // by process
  std::vector<std::uint8_t> lost_;          // by process
  std::function<void(ProcessId)> on_lost_;
  Pool own_;  // frames that outlive the pool of their sender
  std::uint64_t hash_;
  std::uint64_t events_ = 0;
  std::uint64_t frames_in_flight_ = 0;
  std::uint32_t open_ports_ = 0;
  std::uint32_t drops_ = 0;  // in bulk handles, to know those from before drop_all
  bool any_gone_ = false;
};

}  // namespace shoal::comm
