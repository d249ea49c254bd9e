// SPDX-License-Identifier: Apache-2.0
// The problem: actors on a core take turns, and what turns them must run the same under threads and
// real time as in a simulator with ten thousand of them. Offered: a PE as an object with `step()`.
// It takes from its own queue first, then its inbox, then its port, then its timers; all of it
// belongs to one thread but `post`.
#pragma once

#include <shoal/comm/inbox.hpp>
#include <shoal/comm/random.hpp>
#include <shoal/comm/transport.hpp>
#include <shoal/runtime/layer.hpp>
#include <shoal/runtime/message.hpp>
#include <shoal/runtime/priority_queue.hpp>
#include <shoal/runtime/quiescence.hpp>
#include <shoal/runtime/timers.hpp>
#include <shoal/runtime/tree.hpp>
#include <shoal/runtime/wait.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

namespace shoal::runtime {

class Pe;
class FiberState;
class StackPool;
struct Transfer;

/// One process's PEs and what they share; read-only once they run, but for `stop_code`.
struct Process {
  Shape shape;
  comm::ProcessId self{0};
  const comm::Clock* clock = nullptr;
  Layer* layer = nullptr;
  Host* host = nullptr;
  std::span<Pe* const> pes;  ///< those of this process
  std::uint64_t seed = 0;
  comm::Nanoseconds hang_timeout = 60 * comm::kSecond;
  std::size_t fiber_stack = std::size_t{64} << 10U;

  bool holds(comm::PeId pe) const noexcept {
    return number(pe) - number(shape.first_pe(self)) < pes.size();
  }
  Pe& at(comm::PeId pe) const noexcept { return *pes[number(pe) - number(shape.first_pe(self))]; }
};

/// What a PE did so far. Read by other threads without order: a picture, not a promise.
struct Counters {
  std::uint64_t created = 0;    ///< messages and holds made here
  std::uint64_t processed = 0;  ///< messages run and holds ended here
  std::uint64_t passive = 0;  ///< holds that only something else can end: futures, parked messages
  std::uint64_t waiters = 0;  ///< tasks and fibers that wait, those of services left out
  std::uint64_t timers = 0;   ///< one-shot timers of the program
};

class Pe final : private comm::Receiver {
 public:
  /// Messages run between two polls of inbox, port and timers: what bounds how long a busy queue
  /// keeps the rest waiting.
  static constexpr unsigned kBatch = 64;
  /// What tasks that start tasks that start tasks may use of a PE's stack.
  static constexpr std::size_t kTaskStack = std::size_t{512} << 10U;

  Pe(Process& process, comm::PeId id);
  Pe(const Pe&) = delete;
  Pe& operator=(const Pe&) = delete;
  ~Pe();

  // --- for what drives it ---------------------------------------------------
  /// Opens the port (may be nullptr when there is no other process) and the layer's state.
  void open(std::unique_ptr<comm::Port> port);
  /// Runs up to kBatch messages. False: there was nothing to do.
  bool step();
  /// After step() returned false: does what is left to idle times; true if step should be called
  /// again.
  bool settle();
  /// Destroys actors and messages, then lets the port send what it holds.
  void close(comm::Nanoseconds deadline);
  /// Between close and close_port: receives what peers still send, and drops it. True if something
  /// came.
  bool linger() { return port_ != nullptr && port_->progress(*this); }
  /// After all PEs have closed, everywhere.
  void close_port() noexcept;
  bool stopped() const noexcept { return stopped_; }
  int exit_code() const noexcept { return exit_code_; }
  comm::Port* port() noexcept { return port_.get(); }
  comm::Inbox& inbox() noexcept { return inbox_; }
  const Timers& timers() const noexcept { return timers_; }

  // --- for the layer and the awaitables, on this PE's thread -----------------
  comm::PeId id() const noexcept { return id_; }
  Process& process() noexcept { return process_; }
  comm::Pool& pool() noexcept { return pool_; }
  comm::Random& random() noexcept { return random_; }
  comm::Nanoseconds now() const noexcept { return process_.clock->now(); }
  void* layer_state = nullptr;

  /// A message of the program joins this PE's queue.
  void send_here(Message* message) noexcept {
    ++counters.created;
    enqueue(message);
  }
  /// A message of the program goes to another PE of this process.
  void send_to(Pe& target, Message* message) noexcept {
    ++counters.created;
    pool_.gave();
    sent_to_ = &target;
    target.post(message);
  }
  /// A message of the program goes to a PE of this process, perhaps this one.
  void send_within(comm::PeId target, Message* message) noexcept {
    target == id_ ? send_here(message) : send_to(process_.at(target), message);
  }
  /// A frame of the program goes to a PE of another process.
  void transmit(comm::PeId to, comm::Frame* frame, comm::OutgoingBulk bulk = {}) {
    ++counters.created;
    port_->send(to, frame, bulk);
  }
  /// Joins the queue without being counted: resumptions, and what was counted where it came from.
  [[gnu::always_inline]] void enqueue(Message* message) noexcept {
    if (message->priority == 0) [[likely]] {
      fifo_.push(message);
    } else {
      enqueue_by_priority(message);
    }
  }
  /// Does `what`, which may enqueue; the message that it enqueued first runs before this returns,
  /// within the port's progress, if the queue was empty. So an arrival waits neither for the rest
  /// of that progress nor for the next look at the queue. For arrivals and ended transfers: outside
  /// of the port's progress it only does `what`.
  template <class What>
  void at_once(What&& what) {
    const bool nothing_before = may_run_ && fifo_.empty() && heap_.empty();
    what();
    if (nothing_before) run_next();
  }
  /// One of the runtime's own messages, to any PE.
  void send_control(comm::PeId to, const Envelope& envelope);
  void broadcast_control(const Envelope& envelope);

  /// Something that must end before the program is quiet; passive: only something else can end it.
  void hold(bool passive) noexcept { ++counters.created, counters.passive += passive ? 1 : 0; }
  void release_hold(bool passive) noexcept {
    ++counters.processed, counters.passive -= passive ? 1 : 0;
  }

  /// `message` joins the queue at `deadline`. It counts as a timer of the program.
  void set_timer(comm::Nanoseconds deadline, Message* message);
  bool cancel_timer(const Message* message);

  /// Ends the program everywhere with `code`; no entry starts after it.
  void exit(int code);
  /// The job cannot go on.
  void fail(int code, const std::string& text) { process_.host->fail(code, text); }
  /// The message being run, nullptr between messages.
  const Message* current() const noexcept { return current_.load(std::memory_order_relaxed); }
  Activity activity() const noexcept;
  /// Names it. For the thread that watches one that stands still.
  std::string describe_current();

  Quiescence& quiescence() noexcept { return quiescence_; }
  /// Who waits for what on this PE, a line each, said through the host.
  void report_waits() { report_waits(false); }
  /// What it holds and does, then who waits for what, services too: for a program that runs.
  void report();
  StackPool& stacks();

  // --- any thread --------------------------------------------------------------
  /// Hands `message` over.
  void post(Message* message) noexcept {
    if (inbox_.push(message)) process_.host->wake(*this);
  }

  Counters counters;
  FiberState* fibers = nullptr;   ///< those that live, the youngest first
  Transfer* transfers = nullptr;  ///< those that the transport has not ended yet
  /// Below it, a task that is started waits for its turn instead: half of a fiber's stack, or
  /// kTaskStack below step().
  const std::byte* stack_limit = nullptr;

 private:
  friend class WaitList;
  friend void begin_wait(Pe& pe, Waiter& waiter) noexcept;
  friend void end_wait(Pe& pe, Waiter& waiter) noexcept;

  void arrived(const comm::Arrival& arrival) override;
  bool poll();
  void pace() noexcept;
  bool step_exiting();
  void enqueue_by_priority(Message* message);  // apart, so that the common case is inlined
  void begin_exit() noexcept {
    exiting_ = true;
    batch_ = 0;  // the message that is running is the last
  }
  bool fire_timers();
  void on_control(const Envelope& envelope);
  void stop(const Envelope& envelope);
  Message* next() noexcept;
  void run_next();
  void drop_messages() noexcept;
  void report_waits(bool services);
  static void run_control(Pe& pe, Message* message);

  Process& process_;
  const comm::PeId id_;
  bool stopped_ = false;  // told so from above in the tree, and told those below
  bool exiting_ = false;  // no message of the program runs here any more
  bool may_run_ = false;  // the port makes progress, for step(), and nothing runs
  int exit_code_ = 0;
  unsigned polls_ = 0;
  comm::Nanoseconds polled_at_ = 0;  // 0: the queue was empty then
  unsigned batch_ = kBatch;
  unsigned polls_since_clock_ = 0;
  Pe* sent_to_ = this;  // the PE of this process that a message went to last
  Fifo fifo_;
  PriorityQueue heap_;
  // relaxed: the watchdog reads it to say what a PE that stands still is doing
  std::atomic<const Message*> current_{nullptr};
  std::unique_ptr<comm::Port> port_;
  Timers timers_;
  Quiescence quiescence_;
  Waiter* waits_ = nullptr;
  std::unique_ptr<StackPool> stacks_;
  comm::Random random_;
  comm::Inbox inbox_;
  comm::Pool pool_;  // last: everything above may hold its blocks
};

/// The PE that runs on this thread; nullptr outside.
/// initial-exec: the address is a constant offset from the thread's register, so a coroutine that
/// is resumed by another thread cannot have cached it.
extern constinit thread_local Pe* current_pe __attribute__((tls_model("initial-exec")));

inline Pe& this_pe() noexcept { return *current_pe; }

/// Lists `waiter` as waiting, for what runs now; and takes it off the list again.
void begin_wait(Pe& pe, Waiter& waiter) noexcept;
void end_wait(Pe& pe, Waiter& waiter) noexcept;

}  // namespace shoal::runtime
