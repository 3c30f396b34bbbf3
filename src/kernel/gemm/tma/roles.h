// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/roles.h - how a Hopper kernel starts: barriers, then consumer warpgroups and a producer warpgroup.
//
//   init (one thread) --> every thread of the block, or of its cluster --> consume(group) | produce(warp)
#pragma once

#include "kernel/gemm/tma/layout.h"
#include "target/hopper.h"

namespace wt {

// init() sets up the mbarriers. produce(warp) is called by whole warps of the producers, consume(group) by whole
// consumer warpgroups. WHY one if/else with nothing behind it: ptxas heeds the register moves only then.
template <KernelConfig kConfig, class Init, class Produce, class Consume>
WT_DEVICE void run_roles(Init&& init, Produce&& produce, Consume&& consume) {
  constexpr int kConsumers = tma_layout::consumers(kConfig);
  constexpr bool kMoveRegisters = kConsumers > 1;
  if (device::thread_index() == 0) {
    init();
    device::mbarrier_fence_init();
  }
  if constexpr (tma_layout::in_clusters(kConfig)) {
    device::cluster_arrive_relaxed();
    device::cluster_wait();
  } else {
    device::sync_block();
  }
  const int role = device::warp_index() / 4;
  if (role == kConsumers) {
    if constexpr (kMoveRegisters) device::give_registers<tma_layout::producer_registers(kConfig)>();
    produce(device::warp_index() - 4 * kConsumers);
  } else {
    if constexpr (kMoveRegisters) device::take_registers<tma_layout::consumer_registers(kConfig)>();
    consume(role);
  }
}

}  // namespace wt
