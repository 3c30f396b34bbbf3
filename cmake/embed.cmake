# SPDX-License-Identifier: Apache-2.0
# wt_embed(OUTPUT file.cc FILES a.h b.h ...): a source that holds the device headers as text, by their path below src/.
function(wt_embed)
  cmake_parse_arguments(ARG "" "OUTPUT" "FILES" ${ARGN})
  add_custom_command(
    OUTPUT ${ARG_OUTPUT}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${ARG_OUTPUT} -DROOT=${PROJECT_SOURCE_DIR}/src "-DFILES=${ARG_FILES}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${ARG_FILES} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    VERBATIM)
endfunction()
