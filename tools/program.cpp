// SPDX-License-Identifier: Apache-2.0
#include <tools/program.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace shoal::tools {

using comm::ErrorCode;
using comm::Expected;
using comm::make_error;

namespace {

/// Why `path` cannot be executed; none if it can.
std::optional<std::string> obstacle(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::strerror(errno);
  if (S_ISDIR(status.st_mode)) return "it is a folder";
  if (::access(path.c_str(), X_OK) != 0) return "it is not executable";
  return std::nullopt;
}

}  // namespace

Expected<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (const auto reason = obstacle(name)) {
      return make_error(ErrorCode::bad_argument, fmt::format("cannot run '{}': {}", name, *reason));
    }
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string_view folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!name.empty()) {
    const std::size_t end = folders.find(':');
    std::string candidate(folders.substr(0, end));
    candidate += candidate.empty() ? "./" : "/";
    candidate += name;
    if (!obstacle(candidate)) return candidate;
    if (end == std::string_view::npos) break;
    folders.remove_prefix(end + 1);
  }
  const bool here = !name.empty() && !obstacle("./" + name);
  return make_error(ErrorCode::bad_argument,
                    fmt::format("cannot run '{}': there is no such program in PATH{}", name,
                                here ? fmt::format("; did you mean './{}'?", name) : ""));
}

}  // namespace shoal::tools
