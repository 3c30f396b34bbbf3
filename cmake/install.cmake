# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, for find_package(wavetile) and pkg-config. The command, its suites and the CPU
# provider are installed by their own folders.
include(CMakePackageConfigHelpers)

install(TARGETS wavetile EXPORT wavetile-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/wavetile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What was tuned on an H200, read below the user's own (docs/tuning.md). Made by the command that will read it; where that is
# for another machine, by the one of a build for this machine.
set(database_command $<TARGET_FILE:wavetile_command>)
set(database_needs wavetile_command)
if(CMAKE_CROSSCOMPILING)
  set(WAVETILE_HOST_COMMAND "" CACHE FILEPATH "A wavetile that runs on this machine, to build for another one")
  set(database_command ${WAVETILE_HOST_COMMAND})
  set(database_needs ${WAVETILE_HOST_COMMAND})
endif()
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/forms/tuning.db
  COMMAND ${CMAKE_COMMAND} -DCOMMAND=${database_command} -DDATABASE=${PROJECT_BINARY_DIR}/forms/tuning.db
          -DRESULTS=${PROJECT_SOURCE_DIR}/bench/results/tuning_h200.json -P ${PROJECT_SOURCE_DIR}/cmake/system_tuning.cmake
  DEPENDS ${database_needs} ${PROJECT_SOURCE_DIR}/bench/results/tuning_h200.json ${PROJECT_SOURCE_DIR}/cmake/system_tuning.cmake
  VERBATIM)
add_custom_target(wavetile_system_tuning ALL DEPENDS ${PROJECT_BINARY_DIR}/forms/tuning.db)
install(FILES ${PROJECT_BINARY_DIR}/forms/tuning.db DESTINATION ${CMAKE_INSTALL_LIBDIR}/wavetile)

# Compiled kernels that are used below WAVETILE_PACK (docs/packs.md): the default ones and those of the tuning above. Of
# another rule set, its kernels alone: the newcomer's test has no time for more.
# WHY asked for: it needs the targets' compilers and minutes of every core.
set(WAVETILE_SYSTEM_PACKS "" CACHE STRING "Targets whose compiled kernels are installed: sm_90a;sm_80")
set(WAVETILE_SYSTEM_PACK_RULES default CACHE STRING "The rule set of these packs")
mark_as_advanced(WAVETILE_SYSTEM_PACK_RULES)
set(wavetile_packs "")
foreach(target IN LISTS WAVETILE_SYSTEM_PACKS)
  set(pack ${PROJECT_BINARY_DIR}/forms/${target}.wtpack)
  set(tuned "")
  if(target STREQUAL sm_90a AND WAVETILE_SYSTEM_PACK_RULES STREQUAL default)
    set(tuned --tuned ${PROJECT_SOURCE_DIR}/bench/results/tuning_h200.json --allow-spills)
  endif()
  add_custom_command(OUTPUT ${pack}
    COMMAND wavetile_command pack build --target ${target} --rule-set ${WAVETILE_SYSTEM_PACK_RULES} ${tuned} -o ${pack} --no-progress
    DEPENDS wavetile_command ${PROJECT_SOURCE_DIR}/bench/results/tuning_h200.json
    VERBATIM)
  list(APPEND wavetile_packs ${pack})
endforeach()
add_custom_target(wavetile_system_packs ALL DEPENDS ${wavetile_packs})
install(FILES ${wavetile_packs} DESTINATION ${CMAKE_INSTALL_LIBDIR}/wavetile)

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

# `cpack -G TGZ` and `cpack -G DEB` in the build folder: library, headers, command, docs, examples, completions, man page.
set(CPACK_PACKAGE_NAME wavetile)
set(CPACK_PACKAGE_VENDOR "The Wavetile authors")
set(CPACK_PACKAGE_CONTACT "The Wavetile authors <wavetile@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Convolutions on GPUs and CPUs: library, headers and command")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
# WHY by hand: the library carries its C++ runtime inside; oneDNN is loaded where it is there, and not needed.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libdnnl2, g++")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, pkg-config")
include(CPack)
