// SPDX-License-Identifier: Apache-2.0
// target/cuda/cluster.h - blocks of one cluster: rank, barrier, each other's shared memory (sm_90 on).
#pragma once

#include "target/cuda/identity.h"

namespace wt::device {

WT_DEVICE u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
WT_DEVICE u32 cluster_blocks() {
  u32 count;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(count));
  return count;
}

// Every thread of the cluster arrives, then waits. The relaxed arrival orders no memory: enough at the start, together
// with mbarrier_fence_init.
WT_DEVICE void cluster_arrive() { asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory"); }
WT_DEVICE void cluster_arrive_relaxed() { asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory"); }
WT_DEVICE void cluster_wait() { asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory"); }

// The address of `local`'s counterpart in the shared memory of block `rank`.
WT_DEVICE u32 cluster_address(SharedAddress local, u32 rank) {
  u32 remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(local), "r"(rank));
  return remote;
}

// Accesses through cluster_address: float, u32 or Vector<float, 4>.
template <class T>
WT_DEVICE T load_cluster(u32 address) {
  if constexpr (sizeof(T) == 4) {
    u32 bits;
    asm volatile("ld.shared::cluster.b32 %0, [%1];" : "=r"(bits) : "r"(address) : "memory");
    return __builtin_bit_cast(T, bits);
  } else {
    static_assert(sizeof(T) == 16);
    Vector<u32, 4> bits;
    asm volatile("ld.shared::cluster.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(bits.at[0]), "=r"(bits.at[1]), "=r"(bits.at[2]), "=r"(bits.at[3])
                 : "r"(address)
                 : "memory");
    return __builtin_bit_cast(T, bits);
  }
}
template <class T>
WT_DEVICE void store_cluster(u32 address, T value) {
  if constexpr (sizeof(T) == 4) {
    asm volatile("st.shared::cluster.b32 [%0], %1;" ::"r"(address), "r"(__builtin_bit_cast(u32, value)) : "memory");
  } else {
    static_assert(sizeof(T) == 16);
    const auto bits = __builtin_bit_cast(Vector<u32, 4>, value);
    asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(bits.at[0]), "r"(bits.at[1]),
                 "r"(bits.at[2]), "r"(bits.at[3])
                 : "memory");
  }
}

// Stores through cluster_address, and counts the bytes at `barrier`, an address of the same block: whoever waits for
// its phase sees them, without a fence.
WT_DEVICE void store_cluster_counted(u32 address, Vector<float, 4> value, u32 barrier) {
  asm volatile(
      "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.f32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(address),
      "f"(value.at[0]), "f"(value.at[1]), "f"(value.at[2]), "f"(value.at[3]), "r"(barrier)
      : "memory");
}

}  // namespace wt::device
