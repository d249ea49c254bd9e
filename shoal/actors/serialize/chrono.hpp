// SPDX-License-Identifier: Apache-2.0
// Durations and time points of std::chrono are plain: the count travels. A steady clock's time
// points mean nothing on another host.
#pragma once

#include <shoal/actors/serialize/plain.hpp>

#include <chrono>

namespace shoal::actors {

template <class Count, class Period>
inline constexpr bool is_plain_bytes<std::chrono::duration<Count, Period>> = is_plain<Count>;

template <class Clock, class Duration>
inline constexpr bool is_plain_bytes<std::chrono::time_point<Clock, Duration>> = Plain<Duration>;

}  // namespace shoal::actors
