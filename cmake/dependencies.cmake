# SPDX-License-Identifier: Apache-2.0
# Finds what the libraries need. Each failure names the Debian package that mends it.

macro(shoal_require found package what)
  if(NOT ${found})
    message(FATAL_ERROR "${what} was not found.\n"
      "On Debian and Ubuntu: apt-get install ${package}, or ./dev setup, which installs all.")
  endif()
endmacro()

find_package(Threads REQUIRED)
find_package(fmt CONFIG QUIET)
shoal_require(fmt_FOUND libfmt-dev "fmt")
find_package(Boost 1.74 CONFIG QUIET COMPONENTS context)
shoal_require(Boost_FOUND libboost-context-dev "Boost.Context (1.74 or newer)")
find_package(OpenSSL QUIET COMPONENTS Crypto)
shoal_require(OPENSSL_FOUND libssl-dev "OpenSSL's libcrypto")
find_package(CLI11 CONFIG QUIET)
shoal_require(CLI11_FOUND libcli11-dev "CLI11")
find_package(PkgConfig QUIET)
shoal_require(PkgConfig_FOUND pkg-config "pkg-config")
pkg_check_modules(hwloc QUIET IMPORTED_TARGET hwloc)
shoal_require(hwloc_FOUND libhwloc-dev "hwloc")
# Only its header: the library is loaded at run time, where there is one.
find_path(SHOAL_PMIX_INCLUDE_DIR pmix.h
  PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pmix2/include PATH_SUFFIXES pmix)
shoal_require(SHOAL_PMIX_INCLUDE_DIR libpmix-dev "PMIx's header")
mark_as_advanced(SHOAL_PMIX_INCLUDE_DIR)

include(ucx)
