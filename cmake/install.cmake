# SPDX-License-Identifier: Apache-2.0
# Installs headers, libraries, tools, and the package that find_package(shoal CONFIG) reads.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shoal)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/shoal DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")
get_property(layers GLOBAL PROPERTY SHOAL_LAYERS)
install(TARGETS ${layers} shoal_shoal EXPORT shoalTargets)
install(EXPORT shoalTargets NAMESPACE shoal:: DESTINATION ${package_dir})
get_property(tools GLOBAL PROPERTY SHOAL_TOOLS)
if(tools)
  install(TARGETS ${tools})
endif()

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/shoalConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/shoalConfig.cmake INSTALL_DESTINATION ${package_dir}
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/shoalConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/generated/shoalConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/shoalConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/ucx_wheel.cmake
  DESTINATION ${package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/shoal)
