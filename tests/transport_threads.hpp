// SPDX-License-Identifier: Apache-2.0
// The problem: the scenarios of the transport contract need ports to run on. Offered: drivers for
// transports whose PEs share this process, each PE in a thread of its own, or all of them in one
// thread.
#pragma once

#include "transport_party.hpp"

#include <atomic>
#include <thread>

namespace contract {

/// A party with the pool and the port that it uses, in the order in which they may end.
struct Seat {
  Pool pool;
  std::unique_ptr<Port> port;
  std::unique_ptr<Party> party;

  /// False: the port did not open; the party says why.
  bool open(const Scenario& scenario, unsigned index, Transport& transport, unsigned first_pe) {
    party = scenario.make(index);
    party->index = index;
    party->count = scenario.parties;
    party->first_pe = first_pe;
    party->pool = &pool;
    auto opened = transport.open(party->pe_of(index), pool);
    if (!opened) {
      party->fail(to_string(opened.error()));
      return false;
    }
    port = std::move(*opened);
    party->port = port.get();
    return true;
  }
};

/// Where parties that run side by side meet: in one process, or in shared memory. `wait` goes on
/// with `busy`.
struct Meeting {
  std::atomic<unsigned> came{0};  // relaxed would do: it orders nothing but the meeting itself
  template <class Busy>
  bool wait(unsigned all, Nanoseconds give_up, Busy&& busy) {
    came.fetch_add(1);
    while (came.load() < all) {
      busy();
      if (steady_clock().now() > give_up) return false;
    }
    return true;
  }
};

/// The stations that parties side by side pass together.
struct Meetings {
  Meeting opened, done, closed, finished;
};

/// One party's way through a scenario beside others; what goes wrong is in `seat.party->failure`.
inline void drive_beside_others(Seat& seat, Meetings& meetings) {
  Party& party = *seat.party;
  const unsigned all = party.count;
  const Nanoseconds give_up = steady_clock().now() + kPatience;
  const auto progress = [&] {
    if (!seat.port->progress(party)) std::this_thread::yield();
  };
  if (!meetings.opened.wait(all, give_up, [] { std::this_thread::yield(); })) {
    return party.fail("the others did not open their ports");
  }
  party.start();
  while (!party.done() && party.failure.empty()) {
    progress();
    if (!party.done()) party.step();
    if (steady_clock().now() > give_up) party.fail("no end in sight: " + party.state());
  }
  if (!meetings.done.wait(all, give_up, progress)) party.fail("the others are not done");
  const auto closed = seat.port->close(party, give_up);
  if (!closed) party.fail(to_string(closed.error()));
  if (!meetings.closed.wait(all, give_up, progress)) party.fail("the others did not close");
  for (int i = 0; i < 100; ++i) progress();
  party.finish();
}

/// Every PE of `transport` in its own thread. Returns what went wrong, or nothing.
inline std::string run_in_threads(const Scenario& scenario, Transport& transport,
                                  unsigned first_pe = 0) {
  Meetings meetings;
  std::vector<Seat> seats(scenario.parties);
  std::vector<std::thread> threads;
  threads.reserve(scenario.parties);
  for (unsigned i = 0; i < scenario.parties; ++i) {
    threads.emplace_back([&, i] {
      Seat& seat = seats[i];
      if (seat.open(scenario, i, transport, first_pe)) drive_beside_others(seat, meetings);
      meetings.finished.wait(scenario.parties, steady_clock().now() + kPatience,
                             [] { std::this_thread::yield(); });
      seat.port.reset();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Seat& seat : seats) {
    if (!seat.party->failure.empty()) return seat.party->failure;
  }
  return {};
}

/// Port `i` is opened on transport `i` (or on the only one), all in this thread.
inline std::string run_in_one_thread(const Scenario& scenario,
                                     const std::vector<Transport*>& transports) {
  std::vector<Seat> seats(scenario.parties);
  std::vector<Party*> parties;
  for (unsigned i = 0; i < scenario.parties; ++i) {
    Transport& transport = *transports[transports.size() == 1 ? 0 : i];
    if (!seats[i].open(scenario, i, transport, 0)) return seats[i].party->failure;
    seats[i].party->may_block = false;
    parties.push_back(seats[i].party.get());
  }
  std::string failure = drive_in_turn(parties);
  for (Seat& seat : seats) seat.port.reset();
  return failure;
}

}  // namespace contract
