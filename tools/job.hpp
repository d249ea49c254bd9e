// SPDX-License-Identifier: Apache-2.0
// The problem: a job is many processes, and whatever happens to one of them, the user must learn
// what and why, and nothing may stay behind. Offered: the launcher's one loop over deaths, outputs,
// signals and the rendezvous, and the rules by which a job ends.
//
// The end has one cause. exit(code) of a process is an orderly end: the others have kOrderlyLimit.
// A death by a signal, a failure that a process reports, a non-zero exit, a refused handshake, or
// an interrupt is not: the others have the grace that the user chose. Who is late gets SIGTERM,
// kTermLimit later SIGKILL; an exit(0) then is no success any more.
#pragma once

#include <shoal/comm/bootstrap/inquiry.hpp>
#include <shoal/comm/bootstrap/rendezvous.hpp>
#include <shoal/comm/clock.hpp>

#include <tools/child.hpp>
#include <tools/control_group.hpp>
#include <tools/interrupts.hpp>
#include <tools/output.hpp>
#include <tools/run_options.hpp>

#include <poll.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace shoal::tools {

inline constexpr comm::Nanoseconds kOrderlyLimit = 5 * comm::kSecond;
inline constexpr comm::Nanoseconds kTermLimit = 1 * comm::kSecond;
/// How long a lesser cause waits for a greater one: who loses a peer may fail before the peer's
/// death is known.
inline constexpr comm::Nanoseconds kSettleTime = 50 * comm::kMillisecond;

class Job {
 public:
  explicit Job(RunOptions options);

  /// Starts the processes and returns the launcher's exit code once all of them are dead.
  int run();

 private:
  /// Greatest first.
  enum class Rank { killed, reported, exited, left };
  struct Cause {
    Rank rank;
    int code;
    std::string text;  ///< for the user
    comm::Nanoseconds settled;
  };
  enum class Stage { running, asked, terminated, killed };

  comm::Expected<void> start_all();
  void loop_once();
  int wait_ms() const;
  void collect_polls();
  void serve_polls();
  void bury(Child& child);
  void judge_death(const Child& child);
  void judge_leavers();
  void judge_late_death(const Child& child);
  void suspect(Cause cause);
  void take_verdict();
  void ask_report();
  void tell();
  void take_signal(Interrupts::Signal signal);
  void check_readers();
  void check_writes();
  /// Tells everybody and starts the clock.
  void end(int code, const std::string& reason, comm::Nanoseconds limit);
  void finish_output();
  void escalate(comm::Nanoseconds now);
  void signal_all(int number, bool strangers_only);
  void say(const std::string& text);
  std::string name_of(const Child& child) const;
  std::string last_words_of(const Child& child) const;
  std::size_t alive() const noexcept;

  RunOptions options_;
  TerminalState terminal_;
  Interrupts interrupts_;
  ControlGroup group_;
  Sink out_;
  std::unique_ptr<Sink> own_error_;  // none: stderr and stdout are one file
  Sink* error_;
  std::unique_ptr<comm::Rendezvous> rendezvous_;
  comm::Inquiry inquiry_;
  bool asked_by_terminal_ = false;
  std::vector<Child> children_;
  std::vector<pollfd> polls_;

  Stage stage_ = Stage::running;
  comm::Nanoseconds next_stage_ = 0;  // when stage_ is neither running nor killed
  std::optional<Cause> cause_;        // not yet acted upon
  bool orderly_ = false;
  bool output_lost_ = false;
  int code_ = 0;
};

}  // namespace shoal::tools
