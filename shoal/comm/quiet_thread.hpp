// SPDX-License-Identifier: Apache-2.0
// The problem: internal threads must not take the signals that are meant for the program, must be
// woken and ended, and sleep till a time on a clock of nanoseconds. Offered: starting, waking and
// the arithmetic.
#pragma once

#include <shoal/comm/clock.hpp>
#include <shoal/comm/descriptor.hpp>
#include <shoal/comm/error.hpp>

#include <functional>
#include <thread>

namespace shoal::comm {

/// A thread that blocks all signals. `name`: 15 characters at most.
Expected<std::thread> start_quiet_thread(const char* name, std::function<void()> body);

/// Makes an eventfd readable.
void signal_eventfd(const Descriptor& eventfd) noexcept;

void clear_eventfd(const Descriptor& eventfd) noexcept;

/// For poll(2): from now to `deadline` of the steady clock, rounded up.
int milliseconds_until(Nanoseconds deadline) noexcept;

}  // namespace shoal::comm
