# SPDX-License-Identifier: Apache-2.0
# wt_link_portable(target): a binary that starts wherever there is a C library.
#
# WHY: the C++ runtime is linked in. A machine with only a GPU driver may have no libstdc++ or an older one, and a C
# program that uses libwavetile.so should not inherit one. No C++ object or exception crosses a library border here:
# the C API, the CPU provider and simulator kernels all speak C. Sanitizers need the shared runtime, so there it stays.
include_guard()

function(wt_link_portable target)
  if(NOT WAVETILE_SANITIZE)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  target_link_options(${target} PRIVATE LINKER:--as-needed)
endfunction()
