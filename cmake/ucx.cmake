# SPDX-License-Identifier: Apache-2.0
# Defines shoal_ucx, the UCX that SHOAL_UCX names, and prints which one that is. Debian's UCX and
# the wheel's have one SONAME, so a program that uses the wheel needs its folder in the rpath:
# otherwise the loader silently takes the system's.

add_library(shoal_ucx INTERFACE)
set(SHOAL_UCX_RPATH "")
if(SHOAL_UCX STREQUAL "system")
  find_package(ucx 1.13 CONFIG QUIET)
  shoal_require(ucx_FOUND libucx-dev "UCX (1.13 or newer)")
  target_link_libraries(shoal_ucx INTERFACE ucx::ucp ucx::ucs)
  get_target_property(ucx_library ucx::ucp IMPORTED_LOCATION)
  set(ucx_version ${ucx_VERSION})
elseif(SHOAL_UCX STREQUAL "wheel")
  message(FATAL_ERROR "SHOAL_UCX=wheel comes in a moment")
else()
  message(FATAL_ERROR "SHOAL_UCX is '${SHOAL_UCX}', but it must be 'system' or 'wheel'.")
endif()
message(STATUS "UCX: ${ucx_version} (${SHOAL_UCX}), ${ucx_library}")
