// SPDX-License-Identifier: Apache-2.0
// The problem: three transports promise one contract (shoal/comm/transport.hpp), and three test
// files would drift apart. Offered: what a scenario of the contract is made of, parties (one a
// port) that a driver steps: in threads, in one thread by turns, in processes, or under virtual
// time. A party states what went wrong as text, because a failed CHECK of a forked child reaches
// nobody.
//
// A driver gives each party its index, count, pool, port and `may_block`, calls `start` once all
// ports are open, then `progress` and `step` by turns until every party is `done` (and goes on with
// the port's progress for those that are done already), then `close` on every port, `progress`
// until all have closed, and `finish`. `drive_in_turn` does this in one thread.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/comm/transport.hpp>

#include <fmt/format.h>

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace contract {

using namespace shoal::comm;  // NOLINT(google-build-using-namespace): a test's vocabulary

inline constexpr Nanoseconds kPatience = 50 * kSecond;  // a scenario that takes longer has failed

/// One port's part in a scenario. One thread.
class Party : public Receiver {
 public:
  virtual ~Party() = default;
  virtual void start() {}
  virtual void step() {}
  virtual bool done() const { return true; }
  /// After everything has been closed.
  virtual void finish() {}
  /// What it waits for, for the report of a scenario that does not end.
  virtual std::string state() const { return "?"; }
  void arrived(const Arrival&) override { fail("an arrival that nobody sent"); }

  PeId pe_of(unsigned party) const { return PeId{first_pe + party}; }
  void fail(std::string text) {
    if (failure.empty()) failure = fmt::format("party {}: {}", index, text);
  }
  void expect(bool condition, const char* text) {
    if (!condition) fail(text);
  }

  unsigned index = 0;
  unsigned count = 0;
  unsigned first_pe = 0;
  bool may_block = true;  ///< other parties go on while this one sleeps in a system call
  Port* port = nullptr;
  Pool* pool = nullptr;
  std::string failure;
};

struct Scenario {
  const char* name;
  unsigned parties;
  std::function<std::unique_ptr<Party>(unsigned index)> make;
};

/// Fills `bytes` with a pattern of its own for each `salt`: byte i is (31 i + 7 salt) mod 251.
inline constexpr std::size_t kPeriod = 251;
inline void fill(std::span<std::byte> bytes, std::uint64_t salt) {
  for (std::size_t i = 0; i < bytes.size() && i < kPeriod; ++i) {
    bytes[i] = static_cast<std::byte>((i * 31 + salt * 7) % kPeriod);
  }
  for (std::size_t done = kPeriod; done < bytes.size();) {
    const std::size_t more = std::min(done / kPeriod * kPeriod, bytes.size() - done);
    std::memcpy(bytes.data() + done, bytes.data(), more);
    done += more;
  }
}
inline bool filled(std::span<const std::byte> bytes, std::uint64_t salt) {
  std::array<std::byte, kPeriod> start{};
  fill(start, salt);
  const std::size_t head = std::min(bytes.size(), kPeriod);
  if (head == 0) return true;
  return std::memcmp(bytes.data(), start.data(), head) == 0 &&
         std::memcmp(bytes.data(), bytes.data() + head, bytes.size() - head) == 0;
}

/// Steps ports that live in one thread. `between` runs after each round (the simulator moves its
/// time). Returns what went wrong, or nothing. Deadlines for `close` are of `clock`, the one that
/// the ports go by.
inline std::string drive_in_turn(
    const std::vector<Party*>& parties, const std::function<void()>& between = [] {},
    const Clock& clock = steady_clock()) {
  const Nanoseconds give_up = steady_clock().now() + kPatience;
  for (Party* party : parties) party->start();
  bool all_done = false;
  while (!all_done) {
    all_done = true;
    for (Party* party : parties) {
      party->port->progress(*party);
      if (party->done()) continue;
      all_done = false;
      party->step();
    }
    between();
    if (steady_clock().now() < give_up) continue;
    std::string text = "no end in sight:";
    for (Party* party : parties) text += fmt::format(" [{}: {}]", party->index, party->state());
    return text;
  }
  // Parties whose peers share the thread cannot wait for each other: each close gets a short time,
  // by turns.
  std::vector<bool> closed(parties.size());
  std::size_t open = parties.size();
  while (open != 0) {
    for (std::size_t i = 0; i < parties.size(); ++i) {
      parties[i]->port->progress(*parties[i]);
      if (closed[i]) continue;
      const Nanoseconds deadline = clock.now() + 2 * kMillisecond;
      if (!parties[i]->port->close(*parties[i], deadline)) continue;
      closed[i] = true;
      --open;
    }
    between();
    if (steady_clock().now() >= give_up) return "the ports do not close";
  }
  for (Party* party : parties) party->finish();
  for (const Party* party : parties) {
    if (!party->failure.empty()) return party->failure;
  }
  return {};
}

}  // namespace contract
