// SPDX-License-Identifier: Apache-2.0
// target/sim/cluster.h - blocks of one cluster: rank, barrier, each other's shared memory. Words:
// target/cuda/cluster.h.
#pragma once

#include "target/sim/identity.h"

namespace wt::device {

WT_DEVICE u32 cluster_rank() { return sim::table->cluster_rank(); }
WT_DEVICE u32 cluster_blocks() { return sim::table->cluster_blocks(); }
WT_DEVICE void cluster_arrive(WT_SITE) { sim::table->cluster_arrive(false, site); }
WT_DEVICE void cluster_arrive_relaxed(WT_SITE) { sim::table->cluster_arrive(true, site); }
WT_DEVICE void cluster_wait(WT_SITE) { sim::table->cluster_wait(site); }
WT_DEVICE u32 cluster_address(SharedAddress local, u32 rank, WT_SITE) {
  return sim::table->cluster_address(local, rank, site);
}

template <class T>
WT_DEVICE T load_cluster(u32 address, WT_SITE) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 16);
  T value;
  __builtin_memcpy(&value, sim::table->read_cluster(address, sizeof(T), site), sizeof(T));
  return value;
}
template <class T>
WT_DEVICE void store_cluster(u32 address, T value, WT_SITE) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 16);
  __builtin_memcpy(sim::table->write_cluster(address, sizeof(T), site), &value, sizeof(T));
}
WT_DEVICE void store_cluster_counted(u32 address, Vector<float, 4> value, u32 barrier, WT_SITE) {
  sim::table->store_counted(address, &value, sizeof value, barrier, site);
}

}  // namespace wt::device
