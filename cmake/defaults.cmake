# SPDX-License-Identifier: Apache-2.0
# Build type, output folders, compiler cache, and the flags that every target of ours is built with.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_DEBUG_POSTFIX -debug)  # a debug and a release library can share one prefix
set(SHOAL_BIN_DIR ${PROJECT_BINARY_DIR}/bin)  # the launcher and the examples


# Paths under base_dir are hashed relative to it, so that clones share results. The precompiled
# headers need the sloppiness settings named in ccache's manual.
find_program(SHOAL_CCACHE ccache)
mark_as_advanced(SHOAL_CCACHE)
if(SHOAL_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
    CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_PCH_EXTSUM=1
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    ${SHOAL_CCACHE})
endif()

# Flags of the build, not of the interface: linked as $<BUILD_INTERFACE:…>, so never exported.
add_library(shoal_build_flags INTERFACE)
target_compile_options(shoal_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor
  $<$<BOOL:${SHOAL_WERROR}>:-Werror>
  -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(shoal_build_flags INTERFACE -fpch-preprocess)  # asked for by ccache
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # False in the library's own strings and vectors when optimised (GCC bugs 105329, 107852).
    target_compile_options(shoal_build_flags INTERFACE
      -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endif()
if(SHOAL_SANITIZE)
  set(sanitizer_flags -fsanitize=${SHOAL_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  if(SHOAL_FUZZ)
    # Counts the edges that are taken. clang 14 cannot assemble coroutines with the check of calls.
    list(APPEND sanitizer_flags -fsanitize=fuzzer-no-link -fno-sanitize=function)
  endif()
  target_compile_options(shoal_build_flags INTERFACE ${sanitizer_flags})
  target_link_options(shoal_build_flags INTERFACE ${sanitizer_flags})
  if(SHOAL_SANITIZE MATCHES "thread")
    # UCX starts threads and handlers when it is loaded: only programs that use it may load it.
    target_link_options(shoal_build_flags INTERFACE -Wl,--as-needed)
  endif()
endif()
