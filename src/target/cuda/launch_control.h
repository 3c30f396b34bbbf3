// SPDX-License-Identifier: Apache-2.0
// target/cuda/launch_control.h - a running cluster takes over another one that has not started (sm_100 on).
#pragma once

#include "target/cuda/identity.h"

namespace wt::device {

struct TakenCluster {
  bool taken;
  Int3 first;  // the index of its first block; means nothing where none was taken
};

// Asks for a cluster of this grid that has not started. The answer comes to these 16 bytes in every block of the
// cluster, and is counted by `barrier` there. Whoever has seen that none was left may not ask again.
WT_DEVICE void take_cluster(SharedAddress answer, SharedAddress barrier) {
  asm volatile(
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.multicast::cluster::all.b128 "
      "[%0], [%1];" ::"r"(answer),
      "r"(barrier)
      : "memory");
}

// What the answer says, after the phase of its barrier.
WT_DEVICE TakenCluster taken_cluster(SharedAddress answer) {
  u32 taken, x, y, z;
  asm volatile(
      "{\n.reg .pred p;\n.reg .b128 all;\n"
      "ld.shared::cta.b128 all, [%4];\n"
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, all;\n"
      "selp.b32 %0, 1, 0, p;\n"
      "mov.b32 %1, 0;\nmov.b32 %2, 0;\nmov.b32 %3, 0;\n"
      "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, %2, %3, _}, all;\n}"
      : "=&r"(taken), "=&r"(x), "=&r"(y), "=&r"(z)
      : "r"(answer)
      : "memory");
  return {taken != 0, {static_cast<i32>(x), static_cast<i32>(y), static_cast<i32>(z)}};
}

}  // namespace wt::device
