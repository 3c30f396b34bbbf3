# SPDX-License-Identifier: Apache-2.0
# Installs the build and builds, then runs, a project that knows only the installed package.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})
set(prefix ${WORK}/prefix)
set(flags "")
if(SANITIZE)
  set(flags "-fsanitize=${SANITIZE}")
endif()

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(code)
    message(FATAL_ERROR "${ARGN}\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
# Copied, so that nothing of the source tree can be found from it by accident.
file(COPY ${PROJECT}/ DESTINATION ${WORK}/source)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${WORK}/source -B ${WORK}/build -DCMAKE_PREFIX_PATH=${prefix} -DWANTED_VERSION=${VERSION}
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC} -DCMAKE_CXX_FLAGS=${flags} -DCMAKE_C_FLAGS=${flags})
run(${CMAKE_COMMAND} --build ${WORK}/build)
foreach(program program_c program_cpp)
  run(${WORK}/build/${program})
  if(NOT output MATCHES "verified with wavetile ${VERSION}")
    message(FATAL_ERROR "${program} printed\n${output}")
  endif()
  message(STATUS "${program}: ${output}")
endforeach()

if(EXISTS ${prefix}/bin/wavetile)
  run(${prefix}/bin/wavetile --version)
  message(STATUS "installed command: ${output}")
endif()

# A version from the future is refused.
execute_process(COMMAND ${CMAKE_COMMAND} -G ${GENERATOR} -S ${WORK}/source -B ${WORK}/build_newer -DCMAKE_PREFIX_PATH=${prefix}
    -DWANTED_VERSION=99.0 -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC}
    RESULT_VARIABLE code OUTPUT_QUIET ERROR_VARIABLE text)
if(NOT code OR NOT text MATCHES "99.0")
  message(FATAL_ERROR "find_package accepted version 99.0\n${text}")
endif()
