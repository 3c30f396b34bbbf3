// SPDX-License-Identifier: Apache-2.0
// target/cuda/barrier.h - barriers of a block, of a part of it, and of a warp.
#pragma once

#include "target/cuda/identity.h"

namespace wt::device {

WT_DEVICE void sync_block() { __syncthreads(); }
WT_DEVICE void sync_warp() { __syncwarp(); }
template <bool>
WT_DEVICE void prefer_warp() {}  // warps have no priorities

// Named barriers 1 to 15 (0 is sync_block's). `threads` counts everyone who syncs or arrives, a multiple of the warp.
WT_DEVICE void sync_named(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
WT_DEVICE void arrive_named(int id, int threads) {
  asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

}  // namespace wt::device
