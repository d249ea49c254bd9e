// SPDX-License-Identifier: Apache-2.0
#include <shoal/comm/build_info.hpp>

#include <shoal/comm/build_info_data.hpp>  // written at build time by cmake/write_build_info.cmake

#ifdef NDEBUG
#define SHOAL_ABI_BUILD "release"
const char shoal_abi_release_this_file_defines_NDEBUG_but_the_library_does_not = 1;
#else
#define SHOAL_ABI_BUILD "debug"
const char shoal_abi_debug_this_file_lacks_NDEBUG_but_the_library_defines_it = 1;
#endif

#if defined(__LP64__)
#define SHOAL_ABI_SIZES "lp64"
#else
#error "Shoal supports 64-bit Linux only"
#endif

#if defined(_GLIBCXX_USE_CXX11_ABI) && _GLIBCXX_USE_CXX11_ABI
#define SHOAL_ABI_LIBRARY "cxx11"
#else
#define SHOAL_ABI_LIBRARY "other"
#endif

namespace shoal::comm {

std::string_view version() noexcept { return SHOAL_DATA_VERSION; }

std::string_view build_id() noexcept {
  return SHOAL_DATA_HASH "-" SHOAL_ABI_BUILD "-" SHOAL_ABI_SIZES "-" SHOAL_ABI_LIBRARY;
}

std::string_view build_description() noexcept {
  return SHOAL_DATA_VERSION " (" SHOAL_DATA_REVISION ", " SHOAL_DATA_BUILD_TYPE
                            ", " SHOAL_DATA_COMPILER ")";
}

}  // namespace shoal::comm
