// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/error.hpp>
#include <shoal/comm/log.hpp>

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>

namespace shoal::comm {

namespace {
// Set once at start by the runtime, read by whichever thread fails.
std::atomic<void (*)(const std::string&)> check_hook{nullptr};

std::string place_name(const Place& place) {
  const char* file = std::strstr(place.file, "shoal/");
  return fmt::format("{}:{}", file != nullptr ? file : place.file, place.line);
}
}  // namespace

const char* name(ErrorCode code) noexcept {
  constexpr std::array names{"bad argument", "bad data",  "mismatch",    "refused", "unreachable",
                             "timed out",    "no memory", "unsupported", "system"};
  return names[static_cast<std::size_t>(code)];
}

Error make_error(ErrorCode code, std::string text, Place place) {
  return {code, std::move(text), place_name(place)};
}

Error system_error(std::string text, int error_number, Place place) {
  return {ErrorCode::system, fmt::format("{}: {}", text, std::strerror(error_number)),
          place_name(place)};
}

std::string to_string(const Error& error) {
  return fmt::format("{} [{}, {}]", error.text, name(error.code), error.where);
}

void on_check_failed(void (*hook)(const std::string&)) {
  check_hook.store(hook, std::memory_order_release);
}

void check_failed(const char* condition, std::string text, Place place) {
  std::string all = fmt::format("check failed: {} ({}) at {}", text, condition, place_name(place));
  log_line(Level::error, all);
  // acquire pairs with the release in on_check_failed; taken once, so a failing hook does not
  // recurse.
  if (auto* hook = check_hook.exchange(nullptr, std::memory_order_acq_rel)) hook(all);
  _exit(kCheckFailed);
}

}  // namespace shoal::comm
