// SPDX-License-Identifier: Apache-2.0
#include <tools/standard_files.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <initializer_list>

namespace shoal::tools {

bool open_standard_files() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest free number is the one that is missing. The processes inherit it.
    if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd) return false;
  }
  return true;
}

}  // namespace shoal::tools
