// SPDX-License-Identifier: Apache-2.0
// The problem: three things go wrong in three ways. The world fails (a peer is gone, memory is
// short): that is a value, `Expected<T>` with an `Error`. The code is wrong (ours or the user's):
// that is a failed CHECK, always on, which prints the values and ends the job. User exceptions are
// the actors' business. comm/ and runtime/ throw nothing.
#pragma once

#include <fmt/core.h>

#include <string>
#include <utility>
#include <variant>

namespace shoal::comm {

/// Where a call stands. As std::source_location, which clang 14 does not have with this library.
struct Place {
  const char* file;
  int line;
  static constexpr Place current(const char* file = __builtin_FILE(),
                                 int line = __builtin_LINE()) noexcept {
    return {file, line};
  }
};

enum class ErrorCode {
  bad_argument,  ///< an option, a flag or a file holds what it must not
  bad_data,      ///< bytes from outside do not parse
  mismatch,      ///< two parties of a job differ in version, build or entries
  refused,       ///< authentication failed
  unreachable,   ///< no connection to a peer, or it is gone
  timed_out,     ///< a wait reached its limit
  no_memory,     ///< memory, descriptors or another resource ran out
  unsupported,   ///< this machine or library cannot do it
  system,        ///< an operating-system call failed
};

/// The name of `code`, as printed.
const char* name(ErrorCode code) noexcept;

struct Error {
  ErrorCode code;
  std::string text;   ///< a sentence: what, where, and what to do
  std::string where;  ///< file:line of the place that noticed
};

Error make_error(ErrorCode code, std::string text, Place place = Place::current());

/// As make_error, with the text of errno behind it.
Error system_error(std::string text, int error_number, Place place = Place::current());

/// "text [code, file:line]"
std::string to_string(const Error& error);

/// A value, or the reason why there is none. `value()` on an error is a bug and ends the job.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT
  Expected(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT
  explicit operator bool() const noexcept { return state_.index() == 0; }
  T& value() & { return demand(), *std::get_if<0>(&state_); }
  const T& value() const& { return demand(), *std::get_if<0>(&state_); }
  T&& value() && { return demand(), std::move(*std::get_if<0>(&state_)); }
  T& operator*() & { return value(); }
  T* operator->() { return &value(); }
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  void demand() const;
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Error error) : error_(std::move(error)), failed_(true) {}  // NOLINT
  explicit operator bool() const noexcept { return !failed_; }
  const Error& error() const { return error_; }

 private:
  Error error_{};
  bool failed_ = false;
};

/// What a failed CHECK calls: prints the text, the place and the process, then ends this process
/// with the exit code `kCheckFailed`, after the hook (set by the runtime, to tell the launcher) has
/// run.
[[noreturn]] void check_failed(const char* condition, std::string text,
                               Place place = Place::current());

inline constexpr int kCheckFailed = 134;

/// Called once with the text of a failed check, on the thread that failed. Any thread.
void on_check_failed(void (*hook)(const std::string& text));

template <class T>
void Expected<T>::demand() const {
  if (state_.index() != 0) check_failed("a value", to_string(error()));
}

}  // namespace shoal::comm

/// A condition that can only be false through a bug. The rest is a fmt format and its values.
#define SHOAL_CHECK(condition, ...)                                      \
  do {                                                                   \
    if (!(condition)) [[unlikely]]                                       \
      ::shoal::comm::check_failed(#condition, fmt::format(__VA_ARGS__)); \
  } while (false)
