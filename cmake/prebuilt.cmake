# SPDX-License-Identifier: Apache-2.0
# A Python package of binaries that are built already: pip wheel . --config-settings=cmake.define.WAVETILE_PREBUILT=$PWD/build/dev
# (configured with WAVETILE_PYTHON=ON). Its component `python` is this project's.
add_custom_target(wavetile_package COMMAND ${CMAKE_COMMAND} --build ${WAVETILE_PREBUILT} --target wavetile_package
  USES_TERMINAL)
install(CODE "
  execute_process(COMMAND ${CMAKE_COMMAND} --install ${WAVETILE_PREBUILT} --component python --strip
    --prefix \${CMAKE_INSTALL_PREFIX} COMMAND_ERROR_IS_FATAL ANY)" COMPONENT python)
