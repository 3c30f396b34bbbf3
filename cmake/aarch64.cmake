# SPDX-License-Identifier: Apache-2.0
# Builds for aarch64 with Debian's cross-compiler, against an aarch64 Debian that is unpacked in WAVETILE_SYSROOT;
# scripts/aarch64_wheel.sh calls it.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES WAVETILE_SYSROOT)
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_SYSROOT ${WAVETILE_SYSROOT})
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
