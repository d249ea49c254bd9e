// SPDX-License-Identifier: Apache-2.0
// The problem: lines from many PEs and processes must arrive whole and say whence they come.
// Offered: one line a call, written by one write(2) to stderr, with level and process. Any thread.
#pragma once

#include <fmt/core.h>

#include <string_view>
#include <utility>

namespace shoal::comm {

enum class Level { error, warning, info, debug };

/// Lines above this level are dropped. Default: warning; `--shoal-log` and SHOAL_LOG set it.
void set_log_level(Level level) noexcept;
bool logs(Level level) noexcept;

/// What stands before each line, "shoal[1]" for process 1. Set once at start.
void set_log_name(std::string_view text);

/// Writes "name: level: text" and a newline, whole.
void log_line(Level level, std::string_view text);

template <class... Values>
void log(Level level, fmt::format_string<Values...> format, Values&&... values) {
  if (logs(level)) log_line(level, fmt::format(format, std::forward<Values>(values)...));
}

}  // namespace shoal::comm
