# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, for find_package(wavetile) and pkg-config. The command, its suites and the CPU
# provider are installed by their own folders.
include(CMakePackageConfigHelpers)

install(TARGETS wavetile EXPORT wavetile-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/wavetile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(wavetile_cmake_folder ${CMAKE_INSTALL_LIBDIR}/cmake/wavetile)
install(EXPORT wavetile-targets NAMESPACE wavetile:: DESTINATION ${wavetile_cmake_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/wavetile-config.cmake.in
  ${PROJECT_BINARY_DIR}/cmake/wavetile-config.cmake INSTALL_DESTINATION ${wavetile_cmake_folder})
# WHY SameMinorVersion: until 1.0 a minor version may break.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cmake/wavetile-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/wavetile-config.cmake
  ${PROJECT_BINARY_DIR}/cmake/wavetile-config-version.cmake DESTINATION ${wavetile_cmake_folder})

file(RELATIVE_PATH wavetile_prefix_from_pc /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/wavetile.pc.in ${PROJECT_BINARY_DIR}/cmake/wavetile.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/cmake/wavetile.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
