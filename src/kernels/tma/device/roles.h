// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/roles.h - how a Hopper kernel starts: barriers, then consumer warpgroups and a producer warpgroup.
//
//   init (the first producer warp) --> every thread of the block, or of its cluster --> consume(group) | produce(warp)
#pragma once

#include "kernels/tma/device/layout.h"
#include "target/hopper.h"
#include "target/role.h"

namespace wt {

inline constexpr int kStartBarrier = 15;

// The order of ping-pong consumers: barrier 1 + c opens for consumer c. The second one passes the first turn.
WT_DEVICE void await_turn(int consumer) { device::sync_named(1 + consumer, 256); }
WT_DEVICE void pass_turn(int consumer) { device::arrive_named(1 + consumer, 256); }

// init() sets up the mbarriers. produce(warp) is called by whole warps of the producers, consume(group) by whole
// consumer warpgroups. WHY one if/else with nothing behind it: ptxas heeds the register moves only then.
template <KernelConfig kConfig, class Init, class Produce, class Consume>
WT_DEVICE void run_roles(Init&& init, Produce&& produce, Consume&& consume) {
  constexpr int kConsumers = tma_layout::groups(kConfig);
  constexpr bool kMoveRegisters = kConsumers > 1;
  const int role = device::warp_index() / 4;
  const bool starts = device::warp_index() == 4 * kConsumers;
  if (starts) {
    if (device::lane_index() == 0) {
      init();
      device::mbarrier_fence_init();
      device::fence_async_shared();
    }
    device::sync_warp();
  }
  if constexpr (tma_layout::in_clusters(kConfig)) {
    device::cluster_arrive_relaxed();
    device::cluster_wait();
  } else if (starts) {
    device::arrive_named(kStartBarrier, tma_layout::threads(kConfig));  // its first copies need not wait for the others
  } else {
    device::sync_named(kStartBarrier, tma_layout::threads(kConfig));
  }
  if (role == kConsumers) {
    if constexpr (kMoveRegisters) device::give_registers<tma_layout::producer_registers(kConfig)>();
    // What the launch before copies (kernels/beside/whole_rows.cc) or turns round is there; nobody else reads it. Raw
    // patches wait behind their first loads.
    constexpr bool kCopied = tma_layout::copies_rows(kConfig) && !tma_layout::raw_patches(kConfig);
    if constexpr (kCopied || tma_layout::turns_filter(kConfig)) device::wait_prerequisites();
    produce(device::warp_index() - 4 * kConsumers);
  } else {
    if constexpr (kMoveRegisters) device::take_registers<tma_layout::consumer_registers(kConfig)>();
    consume(role);
  }
}

}  // namespace wt
