// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/ucx/ucx_leftovers.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace shoal::comm {

namespace {
namespace files = std::filesystem;

constexpr std::string_view kName = "ucx_shm_posix_";

std::vector<files::path> candidates(Nanoseconds least_age, const std::string& folder) {
  std::vector<files::path> found;
  std::error_code ignored;
  for (const auto& entry : files::directory_iterator(folder, ignored)) {
    struct stat state {};
    if (!entry.path().filename().string().starts_with(kName) ||
        ::lstat(entry.path().c_str(), &state) != 0 || !S_ISREG(state.st_mode) ||
        state.st_uid != ::geteuid()) {
      continue;
    }
    // lint: allow(clock): it is compared with a file's time
    const double age = std::difftime(std::time(nullptr), state.st_mtime);
    if (age * 1e9 >= static_cast<double>(least_age)) found.push_back(entry.path());
  }
  return found;
}

// The names of UCX's files that a process has open or mapped.
void add_used(const files::path& process, std::set<std::string>& used) {
  const auto add = [&](const std::string& text) {
    const std::size_t at = text.find(kName);
    if (at != std::string::npos) used.insert(text.substr(at, text.find(' ', at) - at));
  };
  std::error_code ignored;
  for (const auto& entry : files::directory_iterator(process / "fd", ignored)) {
    add(files::read_symlink(entry.path(), ignored).string());
  }
  std::ifstream maps(process / "maps");
  for (std::string line; std::getline(maps, line);) add(line);
}
}  // namespace

unsigned remove_ucx_leftovers(Nanoseconds least_age, const std::string& folder) {
  // The files first: whoever made one of them and lives has it open or mapped by now.
  const auto found = candidates(least_age, folder);
  if (found.empty()) return 0;
  std::set<std::string> used;
  std::error_code ignored;
  for (const auto& entry : files::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename().string();
    if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; })) {
      add_used(entry.path(), used);
    }
  }
  unsigned removed = 0;
  for (const files::path& one : found) {
    if (!used.contains(one.filename().string()) && ::unlink(one.c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace shoal::comm
