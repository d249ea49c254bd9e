// SPDX-License-Identifier: Apache-2.0
//
// Two processes can work together only when both run the same code, compiled the same way, and a
// program only when it is compiled as its library was. This header offers the names that the
// handshake and --version print, and makes the linker refuse a mix of debug and release.
#pragma once

#include <string_view>

namespace shoal::comm {

/// The project's version, e.g. "0.1.0".
std::string_view version() noexcept;

/// A text that is equal for equal sources, compiler, flags and build type, on any machine and in
/// any folder, and that differs otherwise, e.g. "5c2f19d07c1a93be-release-lp64-cxx11".
std::string_view build_id() noexcept;

/// One line for people, e.g. "0.1.0 (1a2b3c4d5e, Release, GNU 12.2.0)". The revision is that of
/// the last commit to the library's sources, "+changes" when they were edited since, and "unknown"
/// when they were built outside a repository.
std::string_view build_description() noexcept;

}  // namespace shoal::comm

// The library defines one of the two symbols. A file compiled the other way asks for the one that
// is missing, and the linker's message says why.
extern "C" {
#ifdef NDEBUG
extern const char shoal_abi_release_this_file_defines_NDEBUG_but_the_library_does_not;
#else
extern const char shoal_abi_debug_this_file_lacks_NDEBUG_but_the_library_defines_it;
#endif
}

namespace shoal::comm::detail {

#ifdef NDEBUG
[[gnu::used]] inline const char* const abi_release =
    &shoal_abi_release_this_file_defines_NDEBUG_but_the_library_does_not;
#else
[[gnu::used]] inline const char* const abi_debug =
    &shoal_abi_debug_this_file_lacks_NDEBUG_but_the_library_defines_it;
#endif

}  // namespace shoal::comm::detail
