// SPDX-License-Identifier: Apache-2.0
// kernels/device/overlap.h - the launch that adds partial sums starts while the last of them are written (sm_90 on).
//
// kernels/shared/direct_bind.cc marks that launch as programmatic. On an H200 a second launch costs about 2.3 us
// otherwise.
#pragma once

#include "target/role.h"

namespace wt {

constexpr bool overlaps_sum(Target target) { return has_bulk_copies(target); }

// By every thread of the kernel that writes partial sums, when most of its work is done.
template <KernelConfig kConfig>
WT_DEVICE void let_sum_start() {
  if constexpr (overlaps_sum(kConfig.target)) device::launch_dependents();
}

// Before the first partial sum is read: every block of the kernel before is over then, and its memory is seen.
template <KernelConfig kConfig>
WT_DEVICE void wait_for_parts() {
  if constexpr (overlaps_sum(kConfig.target)) device::wait_prerequisites();
}

}  // namespace wt
