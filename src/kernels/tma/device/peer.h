// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/peer.h - two blocks of a cluster that fill each other's stages.
//
// Each loads half of a shared operand for both, so that a slot is free when the consumers of both have read it, and no
// block may end before the other's last copies and releases have come.
#pragma once

#include "kernels/tma/device/layout.h"
#include "target/hopper.h"

namespace wt {

template <KernelConfig kConfig>
struct Peer {
  static constexpr bool kShares = tma_layout::sharing_blocks(kConfig) > 1;
  static constexpr int kConsumers = tma_layout::consumers(kConfig);

  SharedAddress barrier;

  WT_DEVICE void init() const {
    if constexpr (kShares) device::mbarrier_init(barrier, 4 * kConsumers + 1);
  }
  // A slot that has been read, by the barrier of its emptiness.
  WT_DEVICE static void release(SharedAddress empty) {
    device::mbarrier_arrive(empty);
    if constexpr (kShares) device::mbarrier_arrive_remote(empty, device::cluster_rank() ^ 1);
  }
  // The producer's last word, and every consumer warp's.
  WT_DEVICE void greet() const {
    if constexpr (kShares) device::mbarrier_arrive_remote(barrier, device::cluster_rank() ^ 1);
  }
  WT_DEVICE void meet() const {
    if constexpr (kShares) {
      if (device::lane_index() == 0) greet();
      device::mbarrier_wait(barrier, 0);
    }
  }
};

}  // namespace wt
