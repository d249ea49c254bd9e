# SPDX-License-Identifier: Apache-2.0
# Defines ucx::ucp and ucx::ucs, those of the UCX that SHOAL_UCX names, and prints which one it is.

# Where ./dev setup --ucx wheel puts the wheel, else where python finds it, else empty.
function(shoal_find_ucx_wheel result)
  set(${result} "${PROJECT_SOURCE_DIR}/.deps/ucx/libucx" PARENT_SCOPE)
  if(EXISTS ${PROJECT_SOURCE_DIR}/.deps/ucx/libucx/lib/libucp.so)
    return()
  endif()
  find_program(SHOAL_PYTHON python3)
  mark_as_advanced(SHOAL_PYTHON)
  if(SHOAL_PYTHON)
    execute_process(
      COMMAND ${SHOAL_PYTHON} -c "import libucx, os; print(os.path.dirname(libucx.__file__))"
      OUTPUT_VARIABLE root OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(root)
      set(${result} "${root}" PARENT_SCOPE)
    endif()
  endif()
endfunction()

if(SHOAL_UCX STREQUAL "system")
  find_package(ucx CONFIG QUIET)
  shoal_require(ucx_FOUND libucx-dev "UCX")
  set(ucx_version ${ucx_VERSION})
elseif(SHOAL_UCX STREQUAL "wheel")
  include(ucx_wheel)
  if(SHOAL_UCX_ROOT)
    set(ucx_root ${SHOAL_UCX_ROOT})
  else()
    shoal_find_ucx_wheel(ucx_root)
  endif()
  shoal_import_ucx_wheel(${ucx_root})
  set(CMAKE_INSTALL_RPATH ${ucx_root}/lib)
  file(STRINGS ${ucx_root}/include/ucp/api/ucp_version.h ucx_version
    REGEX "define UCP_API_(MAJOR|MINOR) ")
  list(TRANSFORM ucx_version REPLACE "[^0-9]" "")
  list(JOIN ucx_version "." ucx_version)
else()
  message(FATAL_ERROR "SHOAL_UCX is '${SHOAL_UCX}', but it must be 'system' or 'wheel'.")
endif()

get_target_property(ucx_library ucx::ucp IMPORTED_LOCATION)
if(NOT EXISTS ${ucx_library} OR ucx_version VERSION_LESS 1.13)
  message(FATAL_ERROR "UCX ${ucx_version} in ${ucx_library} is missing or older than 1.13.\n"
    "On Debian and Ubuntu: apt-get install libucx-dev, or set ucx_DIR or SHOAL_UCX=wheel.")
endif()
message(STATUS "UCX: ${ucx_version} (${SHOAL_UCX}), ${ucx_library}")
