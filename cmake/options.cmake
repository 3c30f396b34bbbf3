# SPDX-License-Identifier: Apache-2.0
# The flags of every target of this project, as the interface library wt_options.
add_library(wt_options INTERFACE)
target_compile_features(wt_options INTERFACE cxx_std_20)
target_include_directories(wt_options INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
target_compile_options(wt_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers
  -fvisibility=hidden
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  $<$<BOOL:${WAVETILE_WERROR}>:-Werror>)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(WAVETILE_SANITIZE)
  # WHY: GCC's checks of addresses make it see uninitialised values in the standard library's own regex and function.
  target_compile_options(wt_options INTERFACE -Wno-maybe-uninitialized)
  target_compile_options(wt_options INTERFACE -fsanitize=${WAVETILE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(wt_options INTERFACE -fsanitize=${WAVETILE_SANITIZE})
endif()

find_program(WAVETILE_CCACHE ccache)
if(WAVETILE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${WAVETILE_CCACHE})
endif()
