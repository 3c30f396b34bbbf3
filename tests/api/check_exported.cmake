# SPDX-License-Identifier: Apache-2.0
# Exports kernels, builds the tree by its own CMake against an installed Wavetile, and runs problems through its library
# by the tree's programs in C and C++, which know neither the source tree nor the build tree.
file(REMOVE_RECURSE ${WORK})
file(MAKE_DIRECTORY ${WORK})

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(code)
    message(FATAL_ERROR "${ARGN}\n${text}")
  endif()
  set(output "${text}" PARENT_SCOPE)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
set(wavetile ${WORK}/prefix/bin/wavetile)
foreach(target sm_80 gfx942)
  set(tree ${WORK}/${target})
  run(${wavetile} generate --target sim:${target} -o ${tree} --pipeline compv4 --tile-m 64 --tile-n 64 --tile-k 32 --vector-a 8
      --warp-tile-m 16 --datatype fp16 --set gemm.mma.n=${MMA_N_${target}} --set gemm.mma.k=16)
  run(${wavetile} generate --target sim:${target} -o ${tree} --append --rule-set tiny --variant bwd_weight --datatype fp16 --ndim 2)
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${tree} -B ${tree}/build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${WORK}/prefix
      -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC})
  run(${CMAKE_COMMAND} --build ${tree}/build)
  foreach(problem "fwd fp16 n1 c16 k24 i7x9 f3x3 p1" "bwd_weight fp16>fp32 n2 c16 k24 i7x9 f3x3 p1")
    run(${tree}/build/example_c ${tree}/build/libwavetile_kernels.so sim:${target} ${problem})
    if(NOT output MATCHES "right: wt_")
      message(FATAL_ERROR "example_c printed\n${output}")
    endif()
    run(${tree}/build/example_cpp ${tree}/build/libwavetile_kernels.so sim:${target} ${problem})
    if(NOT output MATCHES "registered with high priority")
      message(FATAL_ERROR "example_cpp printed\n${output}")
    endif()
  endforeach()
  # The command takes the library, too.
  run(${wavetile} run "fwd fp16 n1 c16 k24 i7x9 f3x3 p1" --device sim:${target} --exact --register ${tree}/build/libwavetile_kernels.so=high)
  if(NOT output MATCHES "from library")
    message(FATAL_ERROR "${output}")
  endif()
endforeach()

# Hopper's own kernels: a load warpgroup, TMA and wgmma.
set(tree ${WORK}/sm_90a)
run(${wavetile} generate --target sim:sm_90a -o ${tree} --pipeline tma --datatype fp16 --tile-m 64 --tile-n 32 --tile-k 64
    --warp-m 4 --warp-n 1 --warp-tile-m 64 --warp-tile-n 32 --warp-tile-k 16 --set gemm.load_warps=4 --set gemm.persistent=true
    --set gemm.loader_a=tma_im2col --set gemm.loader_b=tma_tiled --set gemm.swizzle_a=128 --set gemm.swizzle_b=128
    --set gemm.stages=4)
run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${tree} -B ${tree}/build -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${WORK}/prefix
    -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC})
run(${CMAKE_COMMAND} --build ${tree}/build)
run(${tree}/build/example_c ${tree}/build/libwavetile_kernels.so sim:sm_90a "fwd fp16 n1 c16 k24 i7x9 f3x3 p1")
if(NOT output MATCHES "right: wt_fwd_fp16_nhwc_sm90a_tma_")
  message(FATAL_ERROR "example_c printed\n${output}")
endif()

# For the GPU itself, where its compiler is: the library then holds code objects. tests/generate compiles a tree for
# sm_90a by NVRTC, which needs no nvcc.
find_program(clang NAMES clang++-22 clang++-21 clang++-20 clang++-19)
if(clang)
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${WORK}/gfx942 -B ${WORK}/gfx942/hip -DWAVETILE_KERNELS_BACKEND=hip
      -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC})
  run(${CMAKE_COMMAND} --build ${WORK}/gfx942/hip)
  message(STATUS "gfx942 code objects built by ${clang}")
endif()
find_program(nvcc nvcc HINTS /usr/local/cuda/bin)
if(nvcc)
  run(${CMAKE_COMMAND} -G ${GENERATOR} -S ${WORK}/sm_90a -B ${WORK}/sm_90a/cuda -DWAVETILE_KERNELS_BACKEND=cuda
      -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_COMPILER=${CXX} -DCMAKE_C_COMPILER=${CC})
  run(${CMAKE_COMMAND} --build ${WORK}/sm_90a/cuda)
  message(STATUS "sm_90a code built by ${nvcc}")
endif()
