// SPDX-License-Identifier: Apache-2.0
// target/cuda/warpgroup_mma.h - the operations of target/cuda/wgmma.h where the target has mma.sync instead.
#pragma once

#include "target/cuda/barrier.h"
#include "target/cuda/matrix.h"
#include "target/cuda/mma.h"
#include "target/warpgroup_mma.h"

namespace wt::device {

WT_DEVICE void wgmma_fence() {}
WT_DEVICE void wgmma_commit() {}
// Every lane has read what the products before need: one of them may give it back then.
template <int kPending>
WT_DEVICE void wgmma_wait() {
  sync_warp();
}
template <int kCount>
WT_DEVICE void wgmma_hold(float (&)[kCount]) {}
WT_DEVICE float wgmma_copy(float from) { return from; }

template <DataType kA, DataType kB, int kN>
struct Wgmma : WarpgroupMma<kA, kB, kN> {};

}  // namespace wt::device
