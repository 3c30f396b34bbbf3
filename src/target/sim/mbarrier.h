// SPDX-License-Identifier: Apache-2.0
// target/sim/mbarrier.h - barriers in shared memory that count arrivals and bytes. Words: target/cuda/mbarrier.h.
#pragma once

#include "target/sim/identity.h"

namespace wt::device {

WT_DEVICE void mbarrier_init(SharedAddress barrier, u32 arrivals, WT_SITE) {
  sim::table->mbarrier_init(barrier, arrivals, site);
}
WT_DEVICE void mbarrier_fence_init(WT_SITE) { sim::table->mbarrier_fence_init(site); }
WT_DEVICE void mbarrier_arrive(SharedAddress barrier, WT_SITE) { sim::table->mbarrier_arrive(barrier, 0, false, site); }
WT_DEVICE void mbarrier_arrive_expect(SharedAddress barrier, u32 bytes, WT_SITE) {
  sim::table->mbarrier_arrive(barrier, bytes, true, site);
}
WT_DEVICE void mbarrier_arrive_remote(SharedAddress barrier, u32 rank, WT_SITE) {
  sim::table->mbarrier_arrive_remote(barrier, rank, site);
}
WT_DEVICE bool mbarrier_try_wait(SharedAddress barrier, u32 parity, WT_SITE) {
  return sim::table->mbarrier_try_wait(barrier, parity, site);
}
WT_DEVICE void mbarrier_wait(SharedAddress barrier, u32 parity, WT_SITE) {
  sim::table->mbarrier_wait(barrier, parity, site);
}

}  // namespace wt::device
