// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/ucx/ucx_library.hpp>

#include <ucp/api/ucp.h>

#include <dlfcn.h>
#include <link.h>

#include <filesystem>
#include <system_error>

namespace shoal::comm {

namespace {
std::string loaded_path() {
  // dlsym and not &ucp_get_version_string: in a program that is not position independent the latter
  // is an entry of the program's own jump table.
  void* const symbol = dlsym(RTLD_DEFAULT, "ucp_get_version_string");
  Dl_info info{};
  if (symbol == nullptr || dladdr(symbol, &info) == 0 || info.dli_fname == nullptr) return "?";
  return info.dli_fname;
}
}  // namespace

Expected<void> detail::check_ucx_version(const UcxLibrary& loaded, unsigned compiled_major,
                                         unsigned compiled_minor) {
  if (loaded.major > compiled_major ||
      (loaded.major == compiled_major && loaded.minor >= compiled_minor)) {
    return {};
  }
  return make_error(
      ErrorCode::mismatch,
      fmt::format("Shoal was compiled against UCX {}.{}, but UCX {} was loaded from {}; mend the "
                  "program's rpath or LD_LIBRARY_PATH, or compile against that UCX",
                  compiled_major, compiled_minor, loaded.version, loaded.path));
}

Expected<UcxLibrary> ucx_library() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  ucp_get_version(&major, &minor, &release);
  UcxLibrary library{loaded_path(), fmt::format("{}.{}.{}", major, minor, release), major, minor};
  if (auto checked = detail::check_ucx_version(library, UCP_API_MAJOR, UCP_API_MINOR); !checked) {
    return checked.error();
  }
  return library;
}

std::vector<std::string> other_ucx_libraries(const UcxLibrary& used) {
  std::vector<std::string> found;
  const auto add = [](dl_phdr_info* info, std::size_t, void* list) {
    const std::filesystem::path path = info->dlpi_name;
    if (path.filename().string().starts_with("libucp.so")) {
      static_cast<std::vector<std::string>*>(list)->push_back(path.string());
    }
    return 0;
  };
  dl_iterate_phdr(add, &found);
  std::erase_if(found, [&](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::equivalent(path, used.path, ignored);
  });
  return found;
}

}  // namespace shoal::comm
