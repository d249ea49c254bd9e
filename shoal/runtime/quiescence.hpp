// SPDX-License-Identifier: Apache-2.0
// The problem: nobody sees the whole job, yet someone must know that nothing moves any more: to go
// on after a phase, to end, or to say that the program is stuck. Offered: waves of counters over
// the tree of PEs. Each PE answers when it is idle; two equal waves in which all that was created
// was processed mean quiescence (F. Mattern's four-counter method, 1987). What was created but can
// only be ended by something else (a future nobody answers) is counted apart: when only that is
// left, the program is stuck, and the proof is the count.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/runtime/envelope.hpp>
#include <shoal/runtime/wait.hpp>

#include <cstdint>
#include <list>
#include <memory>

namespace shoal::runtime {

class Pe;

/// One PE's part; belongs to it.
class Quiescence {
 public:
  explicit Quiescence(Pe& pe) noexcept;
  ~Quiescence();
  Quiescence(const Quiescence&) = delete;
  Quiescence& operator=(const Quiescence&) = delete;

  /// `waiter` is woken once, when the program is quiet.
  void wait(Waiter& waiter);
  /// The program's own task has ended: from now on quiet means the end. On PE 0.
  void program_ended();
  /// Nothing to do: answer a wave, or start one. True if it caused work.
  bool on_idle();
  void on_control(const Envelope& envelope);
  /// When on_idle should be called again though nothing came; 0: need not.
  comm::Nanoseconds next_look() const noexcept;
  /// When it is to be told that other PEs do not answer; 0: it does not wait for any.
  comm::Nanoseconds silence_at() const noexcept;

 private:
  struct Root;
  struct Sum {
    std::uint64_t created = 0, processed = 0;
    std::uint32_t passive = 0, waiters = 0;
    bool timers = false;
    bool operator==(const Sum&) const = default;
  };
  void ask();
  void answer();
  void tell_of_silence();
  void start_wave();
  void judge();
  void stuck(const char* headline);
  void became_quiet();

  // Those that began to wait before the root was asked for the serial-th time, and are told with
  // it: one that begins to wait while the word is under way waits for the next.
  struct Asked {
    std::uint64_t serial;
    WaitList waiters;
  };

  Pe& pe_;
  std::list<Asked> waiting_;  // oldest first
  std::uint64_t serial_ = 0;
  bool must_ask_ = false;
  bool in_wave_ = false;
  std::uint16_t wave_ = 0;
  std::uint32_t missing_ = 0;  // a bit for each child in the tree that has not answered
  Sum sum_;
  std::unique_ptr<Root> root_;  // on PE 0
};

}  // namespace shoal::runtime
