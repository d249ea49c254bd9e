// SPDX-License-Identifier: Apache-2.0
// The problem: a PE, a process and an index are all small integers, and swapping two of them
// compiles. Offered: one strong type for each; `number()` gives the integer where arithmetic is
// meant.
#pragma once

#include <cstdint>
#include <type_traits>

namespace shoal::comm {

/// One scheduler, counted over the whole job: process 0 has PEs 0 to P-1, process 1 the next P.
enum class PeId : std::uint32_t {};
/// One operating-system process of the job (a rank).
enum class ProcessId : std::uint32_t {};

inline constexpr PeId kNoPe{0xffffffffU};

template <class Id>
requires std::is_enum_v<Id>
constexpr auto number(Id id) noexcept { return static_cast<std::underlying_type_t<Id>>(id); }

}  // namespace shoal::comm
