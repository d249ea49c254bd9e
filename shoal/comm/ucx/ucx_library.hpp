// SPDX-License-Identifier: Apache-2.0
// The problem: two UCX libraries share one SONAME, and the first that is loaded wins without a
// word. Offered: which one this process has loaded, and whether it is at least the one that Shoal
// was compiled against.
#pragma once

#include <shoal/comm/error.hpp>

#include <string>
#include <vector>

namespace shoal::comm {

struct UcxLibrary {
  std::string path;     ///< of the loaded libucp, as the loader names it; "?" if it does not say
  std::string version;  ///< "1.13.1"
  unsigned major = 0;
  unsigned minor = 0;
};

/// Fails with a mismatch that names both versions when the loaded library is older than the
/// compiled-against headers. Any thread.
Expected<UcxLibrary> ucx_library();

/// Paths of further libucp files in this process, as a Python module or an MPI may bring: their
/// symbols and the used one's may mix. Any thread.
std::vector<std::string> other_ucx_libraries(const UcxLibrary& used);

namespace detail {
/// The rule behind `ucx_library`, for its test.
Expected<void> check_ucx_version(const UcxLibrary& loaded, unsigned compiled_major,
                                 unsigned compiled_minor);
}  // namespace detail

}  // namespace shoal::comm
