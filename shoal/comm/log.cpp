// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/log.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <string>

namespace shoal::comm {

namespace {
// relaxed: a level that changes while others log may take effect a line later.
std::atomic<Level> shown{Level::warning};
std::string& log_name() {
  static std::string text = "shoal";
  return text;
}
}  // namespace

void set_log_level(Level level) noexcept { shown.store(level, std::memory_order_relaxed); }

bool logs(Level level) noexcept { return level <= shown.load(std::memory_order_relaxed); }

void set_log_name(std::string_view text) { log_name() = text; }

void log_line(Level level, std::string_view text) {
  constexpr std::array names{"error: ", "warning: ", "", "debug: "};
  std::string line =
      fmt::format("{}: {}{}\n", log_name(), names[static_cast<std::size_t>(level)], text);
  std::string_view rest = line;
  while (!rest.empty()) {
    const ssize_t written = ::write(STDERR_FILENO, rest.data(), rest.size());
    if (written <= 0) return;  // nobody reads: there is nowhere left to say so
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace shoal::comm
