// SPDX-License-Identifier: Apache-2.0
// kernels/shared/warpgroup.h - what kernels whose warpgroups multiply 64 rows do so by: wgmma, or mma.sync of the four
// warps where there is none (target/warpgroup_mma.h).
#pragma once

#include <algorithm>

#include "config/kernel_config.h"
#include "launch/rates.h"

namespace wt {

// The matrix instruction that such a config names.
constexpr Extent3 warpgroup_mma(Target target, short n, short k) {
  return has_wgmma(target) ? Extent3{64, n, k} : Extent3{16, 8, k};
}

// What mma.sync has of the matrix unit's rate for 16-bit types and tf32: of Hopper by published microbenchmarks, of
// tensor memory's unit a guess.
constexpr double mma_sync_share(Target target) {
  return has_wgmma(target) ? 0.6 : has_tensor_memory(target) ? 0.315 : 1;
}

// Of 64 rows, so many columns and 32 bytes of depth.
inline double warpgroup_cycles(const Rates& rates, double columns) {
  if (has_wgmma(rates.target)) return wgmma_cycles(columns);
  // Each of the four warps reads its own 16 rows and all columns from shared memory, 32 bytes of each.
  const double read = 32 * (64 + 4 * columns) / rates.shared;
  return std::max(64 * columns * 16 / (rates.macs16 * mma_sync_share(rates.target)), read);
}

}  // namespace wt
