// SPDX-License-Identifier: Apache-2.0
// target/cuda/mbarrier.h - barriers in shared memory that count arrivals and bytes (sm_90 on).
//
// A phase completes when its arrivals and its announced bytes have all come; parity is the phase's number modulo 2.
#pragma once

#include "target/cuda/identity.h"

namespace wt::device {

WT_DEVICE void mbarrier_init(SharedAddress barrier, u32 arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialised barriers known to the copy engine and to the cluster; before the barrier that publishes them.
WT_DEVICE void mbarrier_fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

WT_DEVICE void mbarrier_arrive(SharedAddress barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// Arrives and announces `bytes` that asynchronous copies will bring in this phase.
WT_DEVICE void mbarrier_arrive_expect(SharedAddress barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

// Arrives at the same address in the shared memory of block `rank` of the cluster.
// WHY no .release.cluster: it is a fence of the whole GPU, and made multicast kernels 1.2 to 2 times slower; a release
// of a slot only guards reads of shared memory, for which the plain form suffices.
WT_DEVICE void mbarrier_arrive_remote(SharedAddress barrier, u32 rank) {
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.shared::cluster.b64 _, [remote];\n}" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

// Whether the phase with this parity has completed.
WT_DEVICE bool mbarrier_try_wait(SharedAddress barrier, u32 parity) {
  u32 done;
  asm volatile(
      "{\n.reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.b32 %0, 1, 0, p;\n}"
      : "=r"(done)
      : "r"(barrier), "r"(parity)
      : "memory");
  return done != 0;
}

WT_DEVICE void mbarrier_wait(SharedAddress barrier, u32 parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

}  // namespace wt::device
