# SPDX-License-Identifier: Apache-2.0
# shoal_add_layer, shoal_add_executable, shoal_add_tool: the ways in which targets are made here.

set(SHOAL_PCH_STD
  <algorithm> <array> <atomic> <chrono> <concepts> <coroutine> <cstdint> <cstring> <deque>
  <functional> <map> <memory> <mutex> <optional> <span> <string> <string_view> <thread> <tuple>
  <type_traits> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)

# Two compilations of one precompiled header differ in their bytes, so ccache would share nothing
# that uses it between clones. It takes this checksum instead: the header is what its list of
# includes, the compiler and the versions of the libraries in the list make it.
function(shoal_precompile target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  string(SHA256 sum "${ARGN};${CMAKE_CXX_COMPILER_ID};${CMAKE_CXX_COMPILER_VERSION};\
${fmt_VERSION};${doctest_VERSION}")
  file(CONFIGURE CONTENT "${sum}\n"
    OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${target}.dir/cmake_pch.hxx.gch.sum)
endfunction()

# What every target has: the language level, our flags, and our root as the include folder.
function(shoal_configure target scope)
  target_compile_features(${target} ${scope} cxx_std_20)
  target_include_directories(${target} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endfunction()

# shoal_add_layer(comm SOURCES a.cpp… PUBLIC targets… PRIVATE targets…)
# makes the static library shoal_comm with the alias shoal::comm; PUBLIC are the libraries that its
# headers include, PRIVATE those that only its sources do. A layer without sources is an INTERFACE.
function(shoal_add_layer layer)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;PUBLIC;PRIVATE")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "shoal_add_layer(${layer}): unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  set(target shoal_${layer})
  if(arg_SOURCES)
    add_library(${target} STATIC ${arg_SOURCES})
    shoal_configure(${target} PUBLIC)
    target_link_libraries(${target} PUBLIC ${arg_PUBLIC}
      PRIVATE ${arg_PRIVATE} $<BUILD_INTERFACE:shoal_build_flags>)
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
    if(layer STREQUAL "comm")
      shoal_precompile(${target} ${SHOAL_PCH_STD})
    else()
      target_precompile_headers(${target} REUSE_FROM shoal_comm)
    endif()
  else()
    add_library(${target} INTERFACE)
    shoal_configure(${target} INTERFACE)
    target_link_libraries(${target} INTERFACE ${arg_PUBLIC} ${arg_PRIVATE})
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${layer})
  add_library(shoal::${layer} ALIAS ${target})
  set_property(GLOBAL APPEND PROPERTY SHOAL_LAYERS ${target})
endfunction()

# shoal_add_executable(name SOURCES a.cpp… [LINKS targets…] [OUTPUT_NAME name])
# LINKS is shoal::shoal unless given.
function(shoal_add_executable name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "OUTPUT_NAME" "SOURCES;LINKS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
    message(FATAL_ERROR
      "shoal_add_executable(${name}): no SOURCES, or unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_LINKS)
    set(arg_LINKS shoal::shoal)
  endif()
  add_executable(${name} ${arg_SOURCES})
  shoal_configure(${name} PRIVATE)
  target_link_libraries(${name} PRIVATE ${arg_LINKS} $<BUILD_INTERFACE:shoal_build_flags>)
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF
    RUNTIME_OUTPUT_DIRECTORY ${SHOAL_BIN_DIR})
  if(arg_OUTPUT_NAME)
    set_target_properties(${name} PROPERTIES OUTPUT_NAME ${arg_OUTPUT_NAME})
  endif()
endfunction()

# shoal_add_tool(name …): an executable, as above, that is installed.
function(shoal_add_tool name)
  shoal_add_executable(${name} ${ARGN})
  set_property(GLOBAL APPEND PROPERTY SHOAL_TOOLS ${name})
endfunction()
