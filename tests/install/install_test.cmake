# SPDX-License-Identifier: Apache-2.0
# cmake -P script: installs BUILD_DIR under WORK_DIR, builds PROGRAM_DIR against it and runs it;
# then builds it again as the other of debug and release, which the linker must refuse (BLD-04).

# run(what command…): runs it, and ends the test with its output if it fails.
function(run what)
  execute_process(COMMAND ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  message(STATUS "${what}: exit code ${result}")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${what} failed:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(configure folder build_type)
  run("configure as ${build_type}" ${CMAKE_COMMAND} -S ${PROGRAM_DIR} -B ${WORK_DIR}/${folder}
    -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${build_type}
    -DCMAKE_PREFIX_PATH=${WORK_DIR}/prefix)
endfunction()

file(REMOVE_RECURSE ${WORK_DIR})
run("install" ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/prefix)

configure(same ${BUILD_TYPE})
run("build" ${CMAKE_COMMAND} --build ${WORK_DIR}/same)
run("run" ${WORK_DIR}/prefix/bin/shoal run -n 2 ${WORK_DIR}/same/program)
if(NOT output MATCHES "element 1 of 2 says hello from shoal [0-9]+\\.[0-9]+")
  message(FATAL_ERROR "the program printed: ${output}")
endif()

if(BUILD_TYPE STREQUAL "Debug")
  set(other Release)
else()
  set(other Debug)
endif()
configure(mixed ${other})
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/mixed
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0 OR NOT output MATCHES "shoal_abi_(debug|release)_this_file")
  message(FATAL_ERROR "the linker did not refuse a ${other} program with a ${BUILD_TYPE} library, "
    "or for another reason:\n${output}")
endif()
message(STATUS "the linker refused a ${other} program")
file(REMOVE_RECURSE ${WORK_DIR})
