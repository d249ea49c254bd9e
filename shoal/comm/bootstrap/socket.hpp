// SPDX-License-Identifier: Apache-2.0
// The problem: TCP sockets need the same few careful calls on both sides. Offered: listening at and
// connecting to a numeric address, without name look-ups, both address families, close-on-exec, no
// delay.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/comm/descriptor.hpp>
#include <shoal/comm/error.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace shoal::comm {

struct Listener {
  Descriptor socket;    ///< non-blocking
  std::string address;  ///< "127.0.0.1:40123" or "[::1]:40123"; at kAnyHost several, with commas
};

/// To listen there is to listen at all IPv4 addresses of this host.
inline constexpr const char* kAnyHost = "0.0.0.0";

/// At a port that the kernel chooses.
Expected<Listener> listen_at(const std::string& host);

/// To one address. Blocks up to `limit`; the socket is non-blocking.
Expected<Descriptor> connect_to(const std::string& address, Nanoseconds limit);

/// The next connection, non-blocking; without a value in it when none waits.
Descriptor accept_next(const Descriptor& listener);

/// Waits until `fd` has one of `events` (poll's). False: the deadline of the steady clock has
/// passed.
bool wait_for(int fd, short events, Nanoseconds deadline);

enum class ReadEnd { more, blocked, closed };
struct ReadResult {
  std::size_t size;
  ReadEnd state;  ///< more: size > 0
};
/// One read of what is at hand.
ReadResult read_some(int fd, std::span<std::byte> room);

}  // namespace shoal::comm
