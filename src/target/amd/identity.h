// SPDX-License-Identifier: Apache-2.0
// target/amd/identity.h - how a kernel is declared and which thread this is.
#pragma once

#include "target/types.h"

#define WT_DEVICE __attribute__((device, always_inline)) inline
#define WT_OUTLINED __attribute__((device, noinline)) inline
#define WT_UNROLL _Pragma("unroll")
#define WT_UNROLL_FEW _Pragma("unroll 4")
// Around a user's text, whose functions say nothing of a device.
#define WT_USER_TEXT_BEGIN _Pragma("clang force_cuda_host_device begin")
#define WT_USER_TEXT_END _Pragma("clang force_cuda_host_device end")
#define WT_ROLLED _Pragma("nounroll")

// The one entry of a generated source: WT_KERNEL(name, class with kThreads, kMinBlocks, Params and run).
#define WT_KERNEL(name, ...)                                                                                    \
  using name##_kernel = __VA_ARGS__;                                                                            \
  extern "C" __attribute__((                                                                                    \
      global, amdgpu_flat_work_group_size(name##_kernel::kThreads, name##_kernel::kThreads),                    \
      amdgpu_waves_per_eu(::wt::device::least_waves(name##_kernel::kThreads, name##_kernel::kMinBlocks)))) void \
  name(const typename name##_kernel::Params params) {                                                           \
    name##_kernel::run(params);                                                                                 \
  }

namespace wt::device {

#if defined(__GFX9__)
inline constexpr int kWarpSize = 64;
#else
inline constexpr int kWarpSize = 32;
#endif

// Waves that share a SIMD, of the four of a unit, when min_blocks blocks share the unit: registers are divided among
// them. WHY at least two on CDNA: for one wave clang counts 512 registers, of which half only move data, and carries
// accumulators between the halves in the loop.
constexpr int least_waves(int threads, int min_blocks) {
  const int waves = (min_blocks * ((threads + kWarpSize - 1) / kWarpSize) + 3) / 4;
  return kWarpSize == 64 && waves < 2 ? 2 : waves;
}

WT_DEVICE int thread_index() { return static_cast<int>(__builtin_amdgcn_workitem_id_x()); }
WT_DEVICE int lane_index() { return thread_index() % kWarpSize; }
WT_DEVICE Int3 block_index() {
  return {static_cast<i32>(__builtin_amdgcn_workgroup_id_x()), static_cast<i32>(__builtin_amdgcn_workgroup_id_y()),
          static_cast<i32>(__builtin_amdgcn_workgroup_id_z())};
}
WT_DEVICE Int3 grid_size() {  // in blocks; the hardware counts threads
  return {static_cast<i32>(__builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x()),
          static_cast<i32>(__builtin_amdgcn_grid_size_y() / __builtin_amdgcn_workgroup_size_y()),
          static_cast<i32>(__builtin_amdgcn_grid_size_z() / __builtin_amdgcn_workgroup_size_z())};
}

// A value that is the same in all lanes of the wave, moved to a scalar register.
WT_DEVICE int uniform(int value) { return __builtin_amdgcn_readfirstlane(value); }
WT_DEVICE int warp_index() { return uniform(thread_index() / kWarpSize); }

}  // namespace wt::device
