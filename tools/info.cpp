// SPDX-License-Identifier: Apache-2.0
#include <tools/info.hpp>

#include <tools/allowed_cores.hpp>

#include <shoal/comm/build_info.hpp>

#include <dlfcn.h>
#include <fmt/format.h>

namespace shoal::tools {

namespace {

/// The UCX that a program linked as this one is would load: "1.13.1 (/usr/lib/…/libucp.so.0)". It
/// is loaded here and only now, since it installs signal handlers and memory hooks that a launcher
/// must not have.
std::string describe_ucx() {
  void* library = ::dlopen("libucp.so.0", RTLD_LAZY | RTLD_LOCAL);
  void* function = library != nullptr ? ::dlsym(library, "ucp_get_version_string") : nullptr;
  if (function == nullptr) return fmt::format("none ({})", ::dlerror());
  Dl_info place{};
  const bool known = ::dladdr(function, &place) != 0 && place.dli_fname != nullptr;
  return fmt::format("{} ({})", reinterpret_cast<const char* (*)()>(function)(),
                     known ? place.dli_fname : "?");
}

}  // namespace

std::string describe_installation() {
  return fmt::format("version: {}\nbuild: {}\nUCX: {}\ncores allowed: {}\n",
                     comm::build_description(), comm::build_id(), describe_ucx(), allowed_cores());
}

}  // namespace shoal::tools
