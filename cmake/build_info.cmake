# SPDX-License-Identifier: Apache-2.0
# Keeps shoal/comm/build_info_data.hpp, which one source includes, true to the sources and flags.

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type_upper)
set(build_info_data ${PROJECT_BINARY_DIR}/generated/shoal/comm/build_info_data.hpp)
add_custom_target(shoal_build_info_data
  COMMAND ${CMAKE_COMMAND}
    -D SOURCE_DIR=${PROJECT_SOURCE_DIR}
    -D OUTPUT=${build_info_data}
    -D VERSION=${PROJECT_VERSION}
    -D BUILD_TYPE=${CMAKE_BUILD_TYPE}
    -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    -D "FLAGS=${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type_upper}} ${SHOAL_SANITIZE}"
    -P ${PROJECT_SOURCE_DIR}/cmake/write_build_info.cmake
  BYPRODUCTS ${build_info_data}
  COMMENT "Checking the build id"
  VERBATIM)
add_dependencies(shoal_comm shoal_build_info_data)
set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/build_info.cpp APPEND PROPERTY
  INCLUDE_DIRECTORIES ${PROJECT_BINARY_DIR}/generated)
