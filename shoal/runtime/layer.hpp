// SPDX-License-Identifier: Apache-2.0
// The problem: the scheduler must call the actors without knowing them. Offered: the few functions
// that the layer above gives to the runtime, and the few that whatever runs the PEs (threads, or
// the simulator) gives.
#pragma once

#include <shoal/comm/transport.hpp>
#include <shoal/runtime/envelope.hpp>
#include <shoal/runtime/message.hpp>

#include <exception>
#include <string>

namespace shoal::runtime {

class Pe;
class TaskList;

/// The layer above the runtime. All are called on the PE's thread.
class Layer {
 public:
  virtual ~Layer() = default;
  /// This PE's state, kept in Pe::layer_state.
  virtual void* open(Pe& pe) = 0;
  /// Destroys all actors of this PE; sends made meanwhile are dropped.
  virtual void close(Pe& pe, void* state) noexcept = 0;
  /// A frame of a kind that is not the runtime's; `arrival.frame` is what follows the envelope.
  virtual void arrived(Pe& pe, const Envelope& envelope, const comm::Arrival& arrival) = 0;
  /// Starts the program; called once, on PE 0.
  virtual void start(Pe& pe) = 0;
  /// "Block::ghost of element 7"
  virtual std::string describe(Pe& pe, const Activity& activity) = 0;
  /// Says, through the host, a line for each message that waits inside the layer, for an element
  /// that does not exist, say.
  virtual void report_parked(Pe& pe) = 0;
  /// An exception left a task that nobody awaits.
  virtual void unhandled(Pe& pe, const Activity& activity, std::exception_ptr error) noexcept = 0;
  /// Where a task that `activity` started and discarded belongs.
  virtual TaskList& owner_of(Pe& pe, const Activity& activity) = 0;
};

/// What surrounds a process's PEs. `wake`: any thread; the rest: a PE's thread.
class Host {
 public:
  virtual ~Host() = default;
  /// `pe` sleeps and has something to do.
  virtual void wake(Pe& pe) noexcept = 0;
  /// A timer of `pe` is due at `when`, earlier than what was said before.
  virtual void timer_set(Pe& pe, comm::Nanoseconds when) noexcept = 0;
  /// The job cannot go on: says `text` and ends it with `code`.
  virtual void fail(int code, const std::string& text) = 0;
  /// One line of a report, on the terminal.
  virtual void say(const std::string& line) = 0;
};

}  // namespace shoal::runtime
