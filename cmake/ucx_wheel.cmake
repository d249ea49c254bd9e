# SPDX-License-Identifier: Apache-2.0
# shoal_import_ucx_wheel(root): ucx::ucp and ucx::ucs from the PyPI wheel libucx-cu13, whose own
# CMake files name folders of the machine that built it. The wheel and Debian's UCX have one SONAME:
# a program needs the wheel's folder as an RPATH (not RUNPATH, which LD_LIBRARY_PATH overrules), or
# the loader silently takes the system's.

function(shoal_import_ucx_wheel root)
  foreach(name ucs ucp)
    set(library ${root}/lib/lib${name}.so)
    if(NOT EXISTS ${library})
      message(FATAL_ERROR
        "The UCX wheel was expected in '${root}', but ${library} does not exist.\n"
        "Run ./dev setup --ucx wheel, or set SHOAL_UCX_ROOT to the folder with lib/libucp.so.")
    endif()
    add_library(ucx::${name} SHARED IMPORTED)
    set_target_properties(ucx::${name} PROPERTIES
      IMPORTED_LOCATION ${library}
      IMPORTED_SONAME lib${name}.so.0
      INTERFACE_INCLUDE_DIRECTORIES ${root}/include
      INTERFACE_LINK_OPTIONS -Wl,--disable-new-dtags)
  endforeach()
endfunction()
