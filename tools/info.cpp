// SPDX-License-Identifier: Apache-2.0
#include <tools/info.hpp>

#include <shoal/comm/build_info.hpp>
#include <shoal/comm/ucx/ucx_settings.hpp>
#include <shoal/runtime/topology.hpp>

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <thread>

namespace shoal::tools {

// It is loaded here and only now, since it installs signal handlers and memory hooks that a
// launcher must not have.
std::string describe_ucx() {
  void* library = ::dlopen("libucp.so.0", RTLD_LAZY | RTLD_LOCAL);
  void* function = library != nullptr ? ::dlsym(library, "ucp_get_version_string") : nullptr;
  if (function == nullptr) return fmt::format("none ({})", ::dlerror());
  Dl_info place{};
  const bool known = ::dladdr(function, &place) != 0 && place.dli_fname != nullptr;
  return fmt::format("{} ({})", reinterpret_cast<const char* (*)()>(function)(),
                     known ? place.dli_fname : "?");
}

namespace {
std::string describe_binding(const runtime::Topology& topology) {
  if (topology.quota != 0 && topology.quota < topology.processors.size()) {
    return fmt::format("none by default: a quota of {} is shared by {} processors", topology.quota,
                       topology.processors.size());
  }
  return "each PE to a processor of its own, if there are enough (--shoal-bind)";
}
}  // namespace

std::string describe_installation() {
  const runtime::Topology topology = runtime::discover_topology();
  const std::string transports = comm::detail::apply_ucx_settings({.one_host = true});
  std::string text;
  const auto add = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<12}{}\n", std::string(name) + ":", value);
  };
  add("version", std::string(comm::build_description()));
  add("build", std::string(comm::build_id()));
  add("UCX", describe_ucx());
  add("transports", transports + " on one host, and tcp between hosts (UCX_TLS)");
  add("processors",
      fmt::format("{} of {} may be used, in this order: {}", topology.processors.size(),
                  std::thread::hardware_concurrency(), fmt::join(topology.processors, " ")));
  add("PEs", fmt::format("{} can run at once; with more of them, idle ones yield and sleep",
                         topology.usable()));
  add("binding", describe_binding(topology));
  return text;
}

}  // namespace shoal::tools
