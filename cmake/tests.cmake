# SPDX-License-Identifier: Apache-2.0
# shoal_add_test, shoal_add_command_test: how tests are registered, labelled and timed out.

find_package(doctest CONFIG QUIET)
shoal_require(doctest_FOUND doctest-dev "doctest")

set(SHOAL_TEST_LABELS unit sim processes slow lint fuzz)
set(SHOAL_TIMEOUT_S_unit 60)
set(SHOAL_TIMEOUT_S_sim 120)
set(SHOAL_TIMEOUT_S_processes 120)
set(SHOAL_TIMEOUT_S_slow 900)
set(SHOAL_TIMEOUT_S_lint 1200)
set(SHOAL_TIMEOUT_S_fuzz 7200)  # run.py ends it after SHOAL_FUZZ_SECONDS

# Sets labels, time limit, cores and environment of one ctest entry.
function(shoal_configure_test test labels timeout_s)
  if(NOT timeout_s)
    set(timeout_s 0)
    foreach(label IN LISTS labels)
      if(NOT label IN_LIST SHOAL_TEST_LABELS)
        message(FATAL_ERROR "test ${test}: label '${label}' is none of ${SHOAL_TEST_LABELS}")
      endif()
      if(SHOAL_TIMEOUT_S_${label} GREATER timeout_s)
        set(timeout_s ${SHOAL_TIMEOUT_S_${label}})
      endif()
    endforeach()
    if(SHOAL_SANITIZE)
      math(EXPR timeout_s "${timeout_s} * 3")
    endif()
  endif()
  set_tests_properties(${test} PROPERTIES LABELS "${labels}" TIMEOUT ${timeout_s}
    ENVIRONMENT "SHOAL_LAUNCHER=${SHOAL_BIN_DIR}/shoal;SHOAL_BUILD_DIR=${CMAKE_BINARY_DIR}")
  if("processes" IN_LIST labels)
    set_tests_properties(${test} PROPERTIES PROCESSORS 2)  # they start several processes
  endif()
endfunction()

# One main and one precompiled header for all doctest programs.
add_library(shoal_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/test_main.cpp)
shoal_configure(shoal_test_main PUBLIC)
target_link_libraries(shoal_test_main PUBLIC doctest::doctest fmt::fmt PRIVATE shoal_build_flags)
set_target_properties(shoal_test_main PROPERTIES CXX_EXTENSIONS OFF)
shoal_precompile(shoal_test_main ${SHOAL_PCH_STD} <doctest/doctest.h>)

# shoal_add_test(NAME shoal_unit_comm LABELS unit LAYER comm SOURCES x_test.cpp…
#                [LINKS targets…] [TIMEOUT_S n])
# builds one doctest program, linked with shoal::<LAYER>, and registers one ctest entry for each
# source, called <folder under tests>/<source>, e.g. unit/comm/clock_test. A source without a test
# case fails. Sources that do not end in _test.cpp are helpers and get no entry.
function(shoal_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;LAYER;TIMEOUT_S" "LABELS;SOURCES;LINKS")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_LABELS)
    message(FATAL_ERROR
      "shoal_add_test(${arg_NAME}): NAME or LABELS missing, or unknown ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_SOURCES)
    return()  # a group that waits for its first test
  endif()
  if(arg_LAYER)
    list(APPEND arg_LINKS shoal::${arg_LAYER})
  endif()
  shoal_add_executable(${arg_NAME} SOURCES ${arg_SOURCES} LINKS ${arg_LINKS} shoal_test_main)
  set_target_properties(${arg_NAME} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  target_precompile_headers(${arg_NAME} REUSE_FROM shoal_test_main)
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  foreach(source IN LISTS arg_SOURCES)
    if(source MATCHES "_test\\.cpp$")
      cmake_path(GET source STEM stem)
      set(test ${folder}/${stem})
      add_test(NAME ${test} COMMAND ${arg_NAME} --source-file=*/${stem}.cpp)
      shoal_configure_test(${test} "${arg_LABELS}" "${arg_TIMEOUT_S}")
    endif()
  endforeach()
endfunction()

# shoal_add_command_test(NAME x LABELS processes COMMAND command… [TIMEOUT_S n])
# registers a command, e.g. a launcher run of an example.
function(shoal_add_command_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;TIMEOUT_S" "LABELS;COMMAND")
  if(arg_UNPARSED_ARGUMENTS OR NOT arg_NAME OR NOT arg_LABELS OR NOT arg_COMMAND)
    message(FATAL_ERROR "shoal_add_command_test(${arg_NAME}): an argument is missing or unknown")
  endif()
  add_test(NAME ${arg_NAME} COMMAND ${arg_COMMAND} COMMAND_EXPAND_LISTS)
  shoal_configure_test(${arg_NAME} "${arg_LABELS}" "${arg_TIMEOUT_S}")
endfunction()
