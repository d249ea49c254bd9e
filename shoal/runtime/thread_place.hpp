// SPDX-License-Identifier: Apache-2.0
// The problem: a PE's thread, those that wake it and the one that watches it share a few words.
// Offered: them, for thread_host.cpp and thread_watch.cpp alone.
#pragma once

#include <shoal/runtime/thread_host.hpp>

#include <sys/eventfd.h>
#include <unistd.h>

namespace shoal::runtime {

// Written all the time by one thread: lines of its own, and those that the core fetches with them.
class alignas(128) ThreadHost::Place {
 public:
  explicit Place(Pe& on) : pe(on), event(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    SHOAL_CHECK(event >= 0,
                "no descriptor to wake PE {}: raise the limit of open files (ulimit -n)",
                number(pe.id()));
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place() { ::close(event); }

  Pe& pe;
  const int event;
  unsigned idle_polls = 0;
  comm::Nanoseconds idle_since = 0;
  // written by the PE's thread, read by the watching one; relaxed: only whether it moves matters
  std::atomic<std::uint64_t> steps{0};
  // what it waits for is wanted; set by the watching thread, whose waking of the PE orders it
  std::atomic<bool> asked{false};
  std::string report;  // guarded by report_mutex_
};

// Where the lines that this thread says go, instead of the terminal.
extern constinit thread_local std::string* report_of_thread;

}  // namespace shoal::runtime
