// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/chunk.h - how a load thread fills 16 bytes of shared memory from vectors in global memory.
//
//   asynchronous: global --cp.async--> shared           through registers: global -> words -> shared
//
// Swizzled addresses are those that TMA would write and wgmma reads.
#pragma once

#include "kernels/wavelet/device/layout.h"
#include "kernels/wavelet/device/words.h"
#include "target/hopper.h"

namespace wt {

// Whether an operand with this loader lands by itself, and the arrivals a load thread makes when it has filled a slot.
constexpr bool lands_by_itself(Loader loader) { return loader == Loader::kAsync; }
constexpr int arrivals_of_thread(const KernelConfig& config) {
  const bool a = lands_by_itself(config.gemm.loader_a), b = lands_by_itself(config.gemm.loader_b);
  return a == b ? 1 : 2;
}

// WHY two arrivals where the loaders differ: the asynchronous one waits for copies only, and the plain one publishes
// stores only.
template <KernelConfig kConfig>
WT_DEVICE void publish(SharedAddress full) {
  constexpr bool kA = lands_by_itself(kConfig.gemm.loader_a), kB = lands_by_itself(kConfig.gemm.loader_b);
  if constexpr (kA || kB) device::copy_async_arrive(full);
  if constexpr (!kA || !kB) {
    device::fence_async_shared();
    device::mbarrier_arrive(full);
  }
}

}  // namespace wt
