// SPDX-License-Identifier: Apache-2.0
// target/cuda/identity.h - how a kernel is declared and which thread this is.
#pragma once

#include "target/types.h"

#define WT_DEVICE __device__ __forceinline__
#define WT_OUTLINED __device__ __noinline__
#define WT_UNROLL _Pragma("unroll")
#define WT_UNROLL_FEW _Pragma("unroll 4")
// Around a user's text, whose functions say nothing of a device: NVRTC takes every function for the device's.
#define WT_USER_TEXT_BEGIN
#define WT_USER_TEXT_END
#define WT_ROLLED _Pragma("unroll 1")

// The one entry of a generated source: WT_KERNEL(name, class with kThreads, kMinBlocks, Params and run).
#define WT_KERNEL(name, ...)                                                                       \
  using name##_kernel = __VA_ARGS__;                                                               \
  extern "C" __global__ void __launch_bounds__(name##_kernel::kThreads, name##_kernel::kMinBlocks) \
      name(const __grid_constant__ typename name##_kernel::Params params) {                        \
    name##_kernel::run(params);                                                                    \
  }

namespace wt::device {

inline constexpr int kWarpSize = 32;

WT_DEVICE int thread_index() { return static_cast<int>(threadIdx.x); }
WT_DEVICE int lane_index() { return static_cast<int>(threadIdx.x & 31); }
WT_DEVICE Int3 block_index() {
  return {static_cast<i32>(blockIdx.x), static_cast<i32>(blockIdx.y), static_cast<i32>(blockIdx.z)};
}
WT_DEVICE Int3 grid_size() {
  return {static_cast<i32>(gridDim.x), static_cast<i32>(gridDim.y), static_cast<i32>(gridDim.z)};
}

// A value that is the same in all lanes of the warp, told to the compiler.
WT_DEVICE int uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }
WT_DEVICE int warp_index() { return uniform(static_cast<int>(threadIdx.x >> 5)); }

}  // namespace wt::device
