// SPDX-License-Identifier: Apache-2.0
// target/cuda/tma.h - bulk tensor copies between global and shared memory (sm_90 on), issued by one thread.
//
// Loads complete on an mbarrier, stores by group. Coordinates count elements, innermost first; an im2col load takes the
// pixel where its walk starts and the tap's offset (docs in problem/gemm_view.h and launch/launch.h).
#pragma once

#include "target/cache_policy.h"
#include "target/cuda/identity.h"

namespace wt::device {

// Ordinary shared-memory writes of this thread become visible to the copy engine and to wgmma.
WT_DEVICE void fence_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

WT_DEVICE void tma_prefetch(const TensorMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

// The line of global memory that holds the byte, into the L2.
WT_DEVICE void prefetch_l2(const void* address) { asm volatile("prefetch.global.L2 [%0];" ::"l"(address) : "memory"); }

// Tiled loads, rank 1 to 5 by the number of coordinates. The L2 keeps what they bring as `policy` says.
WT_DEVICE void tma_load(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c0,
                        CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3}], [%2], %4;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c0), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c0, i32 c1,
                        CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c0), "r"(c1), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c0, i32 c1, i32 c2,
                        CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c0, i32 c1, i32 c2, i32 c3,
                        CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6}], [%2], %7;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c0, i32 c1, i32 c2, i32 c3,
                        i32 c4, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6, %7}], [%2], %8;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4), "l"(policy.bits)
      : "memory");
}

// The same box to the same address of every block in `mask` of the cluster; each block's barrier gets its bytes.
WT_DEVICE void tma_load_multicast(SharedAddress to, const TensorMap& map, SharedAddress barrier, u16 mask, i32 c0,
                                  i32 c1, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3, %6;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(mask), "r"(c0), "r"(c1), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_multicast(SharedAddress to, const TensorMap& map, SharedAddress barrier, u16 mask, i32 c0,
                                  i32 c1, i32 c2, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], %3, %7;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(mask), "r"(c0), "r"(c1), "r"(c2), "l"(policy.bits)
      : "memory");
}

// im2col loads, one for each number of spatial dimensions: channel, start pixel (w, h, d), image; tap offsets (w, h,
// d).
WT_DEVICE void tma_load_im2col(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c, i32 w, i32 n,
                               u16 tap_w, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5}], [%2], {%6}, %7;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c), "r"(w), "r"(n), "h"(tap_w), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c, i32 w, i32 h,
                               i32 n, u16 tap_w, u16 tap_h, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6}], [%2], {%7, %8}, %9;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c), "r"(w), "r"(h), "r"(n), "h"(tap_w), "h"(tap_h), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c, i32 w, i32 h,
                               i32 d, i32 n, u16 tap_w, u16 tap_h, u16 tap_d, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".L2::cache_hint [%0], [%1, {%3, %4, %5, %6, %7}], [%2], {%8, %9, %10}, %11;" ::"r"(to),
      "l"(&map), "r"(barrier), "r"(c), "r"(w), "r"(h), "r"(d), "r"(n), "h"(tap_w), "h"(tap_h), "h"(tap_d),
      "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col_multicast(SharedAddress to, const TensorMap& map, SharedAddress barrier, u16 mask, i32 c,
                                         i32 w, i32 n, u16 tap_w, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5, %6}], [%2], {%7}, %3, %8;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(mask), "r"(c), "r"(w), "r"(n), "h"(tap_w), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col_multicast(SharedAddress to, const TensorMap& map, SharedAddress barrier, u16 mask, i32 c,
                                         i32 w, i32 h, i32 n, u16 tap_w, u16 tap_h, CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5, %6, %7}], [%2], {%8, %9}, %3, %10;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(mask), "r"(c), "r"(w), "r"(h), "r"(n), "h"(tap_w), "h"(tap_h), "l"(policy.bits)
      : "memory");
}
WT_DEVICE void tma_load_im2col_multicast(SharedAddress to, const TensorMap& map, SharedAddress barrier, u16 mask, i32 c,
                                         i32 w, i32 h, i32 d, i32 n, u16 tap_w, u16 tap_h, u16 tap_d,
                                         CachePolicy policy = kCacheNormal) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes"
      ".multicast::cluster.L2::cache_hint [%0], [%1, {%4, %5, %6, %7, %8}], [%2], {%9, %10, %11}, %3, %12;" ::"r"(to),
      "l"(&map), "r"(barrier), "h"(mask), "r"(c), "r"(w), "r"(h), "r"(d), "r"(n), "h"(tap_w), "h"(tap_h), "h"(tap_d),
      "l"(policy.bits)
      : "memory");
}

// Stores and reductions of a box; elements outside the tensor are dropped.
WT_DEVICE void tma_store(const TensorMap& map, SharedAddress from, i32 c0, i32 c1) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
               "r"(from), "r"(c0), "r"(c1)
               : "memory");
}
WT_DEVICE void tma_store(const TensorMap& map, SharedAddress from, i32 c0, i32 c1, i32 c2) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(&map),
               "r"(from), "r"(c0), "r"(c1), "r"(c2)
               : "memory");
}
WT_DEVICE void tma_store(const TensorMap& map, SharedAddress from, i32 c0, i32 c1, i32 c2, i32 c3) {
  asm volatile("cp.async.bulk.tensor.4d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5}], [%1];" ::"l"(&map),
               "r"(from), "r"(c0), "r"(c1), "r"(c2), "r"(c3)
               : "memory");
}
WT_DEVICE void tma_store(const TensorMap& map, SharedAddress from, i32 c0, i32 c1, i32 c2, i32 c3, i32 c4) {
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(&map),
      "r"(from), "r"(c0), "r"(c1), "r"(c2), "r"(c3), "r"(c4)
      : "memory");
}
WT_DEVICE void tma_reduce_add(const TensorMap& map, SharedAddress from, i32 c0, i32 c1) {
  asm volatile(
      "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(&map),
      "r"(from), "r"(c0), "r"(c1)
      : "memory");
}

// Plain bulk copies of a multiple of 16 bytes.
WT_DEVICE void bulk_load(SharedAddress to, const void* from, u32 bytes, SharedAddress barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
               "l"(from), "r"(bytes), "r"(barrier)
               : "memory");
}
WT_DEVICE void bulk_store(void* to, SharedAddress from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from), "r"(bytes)
               : "memory");
}

// Stores since the last commit form a group; a wait leaves at most kPending groups unfinished. The _read form waits
// only until shared memory may be written again.
WT_DEVICE void bulk_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int kPending>
WT_DEVICE void bulk_wait() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}
template <int kPending>
WT_DEVICE void bulk_wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

}  // namespace wt::device
