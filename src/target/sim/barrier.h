// SPDX-License-Identifier: Apache-2.0
// target/sim/barrier.h - barriers of a block, of a part of it, and of a warp.
#pragma once

#include "target/sim/identity.h"

namespace wt::device {

WT_DEVICE void sync_block(WT_SITE) { sim::table->sync_block(site); }
WT_DEVICE void sync_warp(WT_SITE) { sim::table->sync_warp(site); }
template <bool>
WT_DEVICE void prefer_warp() {}  // warps take turns

// Named barriers 1 to 15 (0 is sync_block's). `threads` counts everyone who syncs or arrives, a multiple of the warp.
WT_DEVICE void sync_named(int id, int threads, WT_SITE) { sim::table->sync_named(id, threads, site); }
WT_DEVICE void arrive_named(int id, int threads, WT_SITE) { sim::table->arrive_named(id, threads, site); }

}  // namespace wt::device
