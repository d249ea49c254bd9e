// SPDX-License-Identifier: Apache-2.0
// The problem: the scheduler's parts are to be tested without actors, transport or threads.
// Offered: the PEs of one process with a layer and a host that only take notes, stepped by hand
// under a clock that stands still until it is told.
#pragma once

#include <shoal/runtime/fiber.hpp>
#include <shoal/runtime/future.hpp>
#include <shoal/runtime/task.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bare {

using namespace shoal::runtime;  // NOLINT(google-build-using-namespace): a test's vocabulary
using shoal::comm::kMicrosecond;
using shoal::comm::kMillisecond;
using shoal::comm::kSecond;
using shoal::comm::Nanoseconds;
using shoal::comm::PeId;

/// A message that runs a function.
struct Action : Message {
  using Body = std::function<void()>;
  Action(shoal::comm::Origin origin, const MessageType& what, Body* with) noexcept
      : Message(origin, what), body(with) {}
  static void run(Pe& pe, Message* message) {
    (*static_cast<Action*>(message)->body)();
    drop(pe, message);
  }
  static void drop(Pe& pe, Message* message) noexcept {
    delete static_cast<Action*>(message)->body;
    pe.pool().release(message);
  }
  static Activity describe(const Message&) noexcept;
  static const MessageType kType;
  Body* body;
};
inline const MessageType Action::kType{&Action::run, &Action::drop, &Action::describe};
inline Activity Action::describe(const Message&) noexcept { return {&kType, 1, 7}; }

struct Notes final : Layer {
  struct State {
    TaskList tasks;
  };
  void* open(Pe&) override { return new State; }
  void close(Pe&, void* state) noexcept override { delete static_cast<State*>(state); }
  void arrived(Pe&, const Envelope&, const shoal::comm::Arrival&) override {}
  void start(Pe&) override {}
  std::string describe(Pe&, const Activity& activity) override {
    return activity.entry == nullptr ? "the program" : "the action";
  }
  void report_parked(Pe&) override {}
  void unhandled(Pe&, const Activity&, std::exception_ptr error) noexcept override {
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& known) {
      unhandled_texts.emplace_back(known.what());
    }
  }
  TaskList& owner_of(Pe& pe, const Activity&) override {
    return static_cast<State*>(pe.layer_state)->tasks;
  }
  std::vector<std::string> unhandled_texts;
};

class Job final : private Host {
 public:
  /// PE 0 gets `port`.
  explicit Job(std::uint32_t pes = 1, std::unique_ptr<shoal::comm::Port> port = nullptr) {
    process_.shape = {1, pes};
    process_.clock = &clock_;
    process_.layer = &layer;
    process_.host = this;
    for (std::uint32_t i = 0; i < pes; ++i) {
      pes_.push_back(std::make_unique<Pe>(process_, PeId{i}));
      pointers_.push_back(pes_.back().get());
    }
    process_.pes = pointers_;
    for (Pe* pe : pointers_) {
      current_pe = pe;
      pe->open(std::move(port));
    }
    current_pe = pointers_[0];
  }
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job() override {
    for (Pe* pe : pointers_) {
      current_pe = pe;
      pe->close(0);
    }
    for (Pe* pe : pointers_) {
      current_pe = pe;
      pe->close_port();
    }
    current_pe = nullptr;
  }

  Pe& pe(std::uint32_t i = 0) { return *pointers_[i]; }
  Process& process() { return process_; }
  Nanoseconds now() const { return clock_.now(); }
  /// Makes a message for PE `i` of the calling one's pool.
  static Action* make(Action::Body body) {
    return this_pe().pool().make<Action>(sizeof(Action), Action::kType,
                                         new Action::Body(std::move(body)));
  }
  /// Queues `body` on PE `i`, as a send from that PE to itself.
  void send(std::uint32_t i, Action::Body body) {
    Pe* const before = std::exchange(current_pe, pointers_[i]);
    pe(i).send_here(make(std::move(body)));
    current_pe = before;
  }
  /// Steps all PEs until none has anything to do at this time.
  void run() {
    for (bool worked = true; worked;) {
      worked = false;
      for (Pe* pe : pointers_) {
        current_pe = pe;
        worked |= pe->step() || pe->settle();
      }
    }
    current_pe = pointers_[0];
  }
  void send_and_run(Action::Body body) {
    send(0, std::move(body));
    run();
  }
  void advance(Nanoseconds by) {
    clock_.set(clock_.now() + by);
    run();
  }
  /// What runs takes this long.
  void take(Nanoseconds time) { clock_.set(clock_.now() + time); }
  /// Goes on from timer to timer until the program has ended. False: not within `limit`.
  bool run_to_end(Nanoseconds limit = 1000 * kSecond) {
    for (run(); !stopped(); run()) {
      Nanoseconds next = limit;
      for (Pe* pe : pointers_) {
        if (!pe->timers().empty()) next = std::min(next, pe->timers().next());
        if (const auto look = pe->quiescence().next_look(); look != 0) next = std::min(next, look);
      }
      if (next >= limit) return false;
      clock_.set(std::max(next, clock_.now()));
    }
    return true;
  }
  bool stopped() const {
    return std::all_of(pes_.begin(), pes_.end(), [](const auto& pe) { return pe->stopped(); });
  }

  Notes layer;
  std::vector<std::string> said;
  std::vector<int> failures;
  unsigned wakes = 0;

 private:
  void wake(Pe&) noexcept override { ++wakes; }
  void timer_set(Pe&, Nanoseconds) noexcept override {}
  void fail(int code, const std::string& text) override {
    failures.push_back(code);
    said.push_back(text);
  }
  void say(const std::string& line) override { said.push_back(line); }

  shoal::comm::VirtualClock clock_;
  Process process_;
  std::vector<std::unique_ptr<Pe>> pes_;
  std::vector<Pe*> pointers_;
};

}  // namespace bare
