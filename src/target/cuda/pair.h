// SPDX-License-Identifier: Apache-2.0
// target/cuda/pair.h - two neighbouring blocks of a cluster as one (sm_100a): copies and arrivals that the first one's
// barriers count.
#pragma once

#include "target/cache_policy.h"
#include "target/cuda/identity.h"

namespace wt::device {

// The place of `local` in the pair's first block. Bit 24 of a shared address is the lowest of its block's rank.
WT_DEVICE u32 pair_address(SharedAddress local) { return local & 0xfeffffffu; }

// Arrives at the same address in block `rank` of the cluster, and announces bytes there.
WT_DEVICE void mbarrier_arrive_expect_remote(SharedAddress barrier, u32 rank, u32 bytes) {
  asm volatile(
      "{\n.reg .b32 remote;\n"
      "mapa.shared::cluster.u32 remote, %0, %1;\n"
      "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [remote], %2;\n}" ::"r"(barrier),
      "r"(rank), "r"(bytes)
      : "memory");
}

// Bulk tensor copies (tma.h) to the block's own shared memory, whose bytes a barrier of either block of the pair
// counts. To several blocks: of each receiver the bytes are counted in its own pair, by the block of the barrier's
// parity.
WT_DEVICE void tma_load_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c0, i32 c1,
                             CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c0), "r"(c1), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c0, i32 c1, i32 c2,
                             CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c0, i32 c1, i32 c2, i32 c3,
                             CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.4d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c0, i32 c1, i32 c2, i32 c3,
                             i32 c4, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.5d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_pair_multicast(SharedAddress to, const TensorMap& map, u32 barrier, u16 mask, i32 c0, i32 c1,
                                       CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3, %6;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(mask), "r"(c0), "r"(c1), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_pair_multicast(SharedAddress to, const TensorMap& map, u32 barrier, u16 mask, i32 c0, i32 c1,
                                       i32 c2, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], %3, %7;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(mask), "r"(c0), "r"(c1), "r"(c2), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c, i32 w, i32 n, u16 tap_w,
                                    CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], {%6}, %7;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c), "r"(w), "r"(n), "h"(tap_w), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c, i32 w, i32 h, i32 n,
                                    u16 tap_w, u16 tap_h, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.4d.cta_group::2.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c), "r"(w), "r"(h), "r"(n), "h"(tap_w), "h"(tap_h), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c, i32 w, i32 h, i32 d,
                                    i32 n, u16 tap_w, u16 tap_h, u16 tap_d, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.5d.cta_group::2.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}, %11;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c), "r"(w), "r"(h), "r"(d), "r"(n), "h"(tap_w), "h"(tap_h), "h"(tap_d),
      "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col_pair_multicast(SharedAddress to, const TensorMap& map, u32 barrier, u16 mask, i32 c,
                                              i32 w, i32 n, u16 tap_w, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.3d.cta_group::2.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], {%7}, %3, %8;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(mask), "r"(c), "r"(w), "r"(n), "h"(tap_w), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col_pair_multicast(SharedAddress to, const TensorMap& map, u32 barrier, u16 mask, i32 c,
                                              i32 w, i32 h, i32 n, u16 tap_w, u16 tap_h,
                                              CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.4d.cta_group::2.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5, %6, %7}], [%2], {%8, %9}, %3, %10;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(mask), "r"(c), "r"(w), "r"(h), "r"(n), "h"(tap_w), "h"(tap_h), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col_pair_multicast(SharedAddress to, const TensorMap& map, u32 barrier, u16 mask, i32 c,
                                              i32 w, i32 h, i32 d, i32 n, u16 tap_w, u16 tap_h, u16 tap_d,
                                              CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.5d.cta_group::2.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5, %6, %7, %8}], [%2], {%9, %10, %11}, %3, %12;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(mask), "r"(c), "r"(w), "r"(h), "r"(d), "r"(n), "h"(tap_w), "h"(tap_h), "h"(tap_d),
      "l"(policy.bits)
      : "memory");
}

}  // namespace wt::device
