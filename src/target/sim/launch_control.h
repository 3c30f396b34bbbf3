// SPDX-License-Identifier: Apache-2.0
// target/sim/launch_control.h - a running cluster takes over another one. Words: target/cuda/launch_control.h.
#pragma once

#include "target/sim/identity.h"

namespace wt::device {

struct TakenCluster {
  bool taken;
  Int3 first;
};

WT_DEVICE void take_cluster(SharedAddress answer, SharedAddress barrier, WT_SITE) {
  sim::table->take_cluster(answer, barrier, site);
}
WT_DEVICE TakenCluster taken_cluster(SharedAddress answer, WT_SITE) {
  Int3 first{-1, -1, -1};
  const bool taken = sim::table->taken_cluster(answer, &first, site);
  return {taken, first};
}

}  // namespace wt::device
