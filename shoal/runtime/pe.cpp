// SPDX-License-Identifier: Apache-2.0
#include <shoal/runtime/fiber.hpp>
#include <shoal/runtime/pe.hpp>
#include <shoal/runtime/transfer.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <array>

namespace shoal::runtime {

constinit thread_local Pe* current_pe __attribute__((tls_model("initial-exec"))) = nullptr;

namespace {
// Blocks taken from the inbox before the queue is served: bounds how long a flood keeps the port
// waiting.
constexpr unsigned kInboxBulk = 256;
// While only the inbox has work, the clock is read (25 ns) once in so many polls.
constexpr unsigned kPollsPerClock = 8;
// How long the inbox should wait for a busy queue; one entry may take longer.
constexpr comm::Nanoseconds kLongestBatch = comm::kMillisecond;

struct ControlMessage : Message {
  ControlMessage(comm::Origin origin, const MessageType& kind, const Envelope& what) noexcept
      : Message(origin, kind), envelope(what) {}
  Envelope envelope;
};

void drop_block(Pe& pe, Message* message) noexcept { pe.pool().release(message); }
}  // namespace

Pe::Pe(Process& process, comm::PeId id)
    : process_(process),
      id_(id),
      quiescence_(*this),
      random_(comm::mix(process.seed ^ comm::mix(number(id)))) {}

Pe::~Pe() = default;

StackPool& Pe::stacks() {
  if (!stacks_) stacks_ = std::make_unique<StackPool>(process_.fiber_stack);
  return *stacks_;
}

void Pe::open(std::unique_ptr<comm::Port> port) {
  port_ = std::move(port);
  layer_state = process_.layer->open(*this);
}

bool Pe::step() {
  if (exiting_) [[unlikely]]
    return step_exiting();
  stack_limit = static_cast<const std::byte*>(__builtin_frame_address(0)) - kTaskStack;
  bool worked = false;
  if (fifo_.empty() || ++polls_ % 2 == 0) {
    worked = poll();
    if (exiting_) [[unlikely]]
      return true;
  }
  unsigned count = 0;
  while (Message* message = heap_.empty() ? fifo_.pop() : next()) {
    current_.store(message, std::memory_order_relaxed);
    message->type->run(*this, message);
    if (++count >= batch_) break;
  }
  if (count != 0) {
    current_.store(nullptr, std::memory_order_relaxed);
    counters.processed += count;  // what is no message of the program takes itself off again
    worked = true;
  }
  return worked;
}

bool Pe::step_exiting() {
  bool worked = poll();
  while (Message* message = next()) {
    if (message->type->outlives_program) {
      message->type->run(*this, message);
    } else {
      message->type->drop(*this, message);
    }
    worked = true;
  }
  return worked;
}

void Pe::enqueue_by_priority(Message* message) { heap_.push(message); }

Message* Pe::next() noexcept {
  if (heap_.empty()) return fifo_.pop();
  if (heap_.next_priority() < 0 || fifo_.empty()) return heap_.pop();
  return fifo_.pop();
}

void Pe::run_next() {
  if (exiting_) return;
  Message* message = next();
  if (message == nullptr) return;
  may_run_ = false;  // one at a time, even if it makes the port hand over more
  current_.store(message, std::memory_order_relaxed);
  message->type->run(*this, message);
  current_.store(nullptr, std::memory_order_relaxed);
  ++counters.processed;  // as in step()
  may_run_ = true;
}

// Inbox, port and timers wait for the end of a batch: it shrinks where entries are long.
void Pe::pace() noexcept {
  const comm::Nanoseconds now = process_.clock->now();
  const comm::Nanoseconds lasted = polled_at_ != 0 ? now - polled_at_ : kLongestBatch;
  polled_at_ = now;
  if (lasted > kLongestBatch) {
    batch_ = std::max(1U, static_cast<unsigned>(batch_ * kLongestBatch / lasted));
  } else if (lasted < kLongestBatch / 4 && batch_ < kBatch) {
    batch_ *= 2;
  }
}

bool Pe::poll() {
  bool worked = false;
  const bool busy = !fifo_.empty();
  if (busy) {
    pace();
  } else {
    polled_at_ = 0;
  }
  if (!inbox_.empty()) {
    // What came may well be answered to where the last message went: that inbox is fetched while
    // the message itself is.
    sent_to_->inbox_.prefetch_push();
    for (unsigned i = 0; i < kInboxBulk; ++i) {
      comm::Block* block = inbox_.pop();
      if (block == nullptr) break;
      enqueue(static_cast<Message*>(block));
      worked = true;
    }
  }
  if (port_ != nullptr) {
    may_run_ = !exiting_;
    worked |= port_->progress(*this);
    may_run_ = false;
  }
  if (!timers_.empty() && (busy || !worked || ++polls_since_clock_ == kPollsPerClock)) {
    polls_since_clock_ = 0;
    worked |= fire_timers();
  }
  return worked;
}

bool Pe::fire_timers() {
  const comm::Nanoseconds now = process_.clock->now();
  bool worked = false;
  while (!timers_.empty() && timers_.next() <= now) {
    --counters.timers;
    Message* message = timers_.take();
    enqueue(message);
    if (!message->type->is_counted) ++counters.processed;  // else its run counts
    worked = true;
  }
  return worked;
}

bool Pe::settle() {
  pool_.flush_returns();
  return !stopped_ && quiescence_.on_idle();
}

void Pe::set_timer(comm::Nanoseconds deadline, Message* message) {
  ++counters.created;
  ++counters.timers;
  const bool first = timers_.empty() || deadline < timers_.next();
  timers_.add(deadline, message);
  if (first) process_.host->timer_set(*this, deadline);
}

bool Pe::cancel_timer(const Message* message) {
  if (!timers_.remove(message)) return false;
  --counters.timers;
  ++counters.processed;
  return true;
}

Activity Pe::activity() const noexcept {
  const Message* message = current();
  return message != nullptr && message->type->describe != nullptr
             ? message->type->describe(*message)
             : Activity{};
}

std::string Pe::describe_current() { return process_.layer->describe(*this, activity()); }

void Pe::run_control(Pe& pe, Message* message) {
  const Envelope envelope = static_cast<ControlMessage*>(message)->envelope;
  pe.pool_.release(message);
  --pe.counters.processed;  // no message of the program
  pe.on_control(envelope);
}

void Pe::send_control(comm::PeId to, const Envelope& envelope) {
  static constexpr MessageType kType{&Pe::run_control, &drop_block, nullptr, false, true};
  Envelope stamped = envelope;
  stamped.source = number(id_);
  if (process_.holds(to)) {
    auto* message = pool_.make<ControlMessage>(sizeof(ControlMessage), kType, stamped);
    if (to == id_) {
      enqueue(message);
    } else {
      pool_.gave();
      process_.at(to).post(message);
    }
    return;
  }
  port_->send(to, open_frame(pool_, stamped, 0).frame);
}

void Pe::arrived(const comm::Arrival& arrival) {
  Envelope envelope;
  const std::size_t size = read_envelope(arrival.frame, envelope);
  const bool bulk_fits = arrival.bulk_size == 0 ||
                         (envelope.kind == Kind::entry && arrival.bulk_size <= comm::kMaxFrame);
  if (size == 0 || envelope.source >= process_.shape.pes() || !bulk_fits) {
    fail(comm::kCheckFailed,
         fmt::format("PE {} got {} bytes, with {} beside them, that are no message", number(id_),
                     arrival.frame.size(), arrival.bulk_size));
    return;
  }
  if (envelope.kind <= Kind::report) {
    on_control(envelope);
  } else {
    at_once([&] {
      process_.layer->arrived(*this, envelope,
                              {arrival.frame.subspan(size), arrival.bulk_size, arrival.bulk});
    });
  }
}

void Pe::on_control(const Envelope& envelope) {
  if (envelope.kind != Kind::exit && envelope.kind != Kind::report) {
    if (!stopped_) quiescence_.on_control(envelope);
    return;
  }
  // The root decides: the first of several exits counts, and it reaches all PEs by the tree.
  const bool decided = envelope.collection != 0;
  if (!decided && (exiting_ || id_ != comm::PeId{0})) return;
  begin_exit();
  stop(envelope);
}

void Pe::stop(const Envelope& envelope) {
  if (stopped_) return;
  Envelope onward = envelope;
  onward.collection = 1;
  for_each_tree_child(process_.shape, id_, [&](comm::PeId child) { send_control(child, onward); });
  if (envelope.kind == Kind::report) report_waits();
  stopped_ = true;
  exit_code_ = static_cast<int>(envelope.element);
}

void Pe::exit(int code) {
  if (code != 0 && (code & 0xff) == 0) code = 1;  // the system keeps eight bits, and none are left
  Envelope end;
  end.kind = Kind::exit;
  end.element = static_cast<std::uint64_t>(static_cast<std::int64_t>(code));
  end.source = number(id_);
  if (id_ == comm::PeId{0}) {
    on_control(end);
  } else {
    if (!exiting_) send_control(comm::PeId{0}, end);
    begin_exit();  // here no entry starts from now on, elsewhere none once the word has come
  }
}

void Pe::close(comm::Nanoseconds deadline) {
  stopped_ = exiting_ = true;
  drop_messages();
  unwind_fibers(*this);
  process_.layer->close(*this, layer_state);
  layer_state = nullptr;
  drop_messages();
  if (port_ != nullptr) {
    if (const auto closed = port_->close(*this, deadline); !closed) {
      process_.host->say(fmt::format("PE {}: {}", number(id_), comm::to_string(closed.error())));
    }
  }
  drop_messages();
  pool_.flush_returns();
}

void Pe::close_port() noexcept {
  drop_messages();  // what a PE of this process that ended later had sent
  port_.reset();
  while (transfers != nullptr) transfers->run(*transfers, false);
  pool_.flush_returns();
}

void Pe::drop_messages() noexcept {
  while (!timers_.empty()) enqueue(timers_.take());
  while (comm::Block* block = inbox_.pop()) enqueue(static_cast<Message*>(block));
  while (Message* message = next()) message->type->drop(*this, message);
}

void begin_wait(Pe& pe, Waiter& waiter) noexcept {
  waiter.since = pe.process().clock->recent();
  waiter.previous = nullptr;
  waiter.following = pe.waits_;
  if (pe.waits_ != nullptr) pe.waits_->previous = &waiter;
  pe.waits_ = &waiter;
  if (!waiter.service) ++pe.counters.waiters;
}

void end_wait(Pe& pe, Waiter& waiter) noexcept {
  if (waiter.previous != nullptr) {
    waiter.previous->following = waiter.following;
  } else {
    pe.waits_ = waiter.following;
  }
  if (waiter.following != nullptr) waiter.following->previous = waiter.previous;
  if (!waiter.service) --pe.counters.waiters;
}

}  // namespace shoal::runtime
