// SPDX-License-Identifier: Apache-2.0
// target/sim/pair.h - two neighbouring blocks of a cluster as one. Words: target/cuda/pair.h.
#pragma once

#include "target/cache_policy.h"
#include "target/sim/identity.h"

namespace wt::device {

WT_DEVICE u32 pair_address(SharedAddress local, WT_SITE) {
  return sim::table->cluster_address(local, sim::table->cluster_rank() & ~1u, site);
}
WT_DEVICE void mbarrier_arrive_expect_remote(SharedAddress barrier, u32 rank, u32 bytes, WT_SITE) {
  sim::table->mbarrier_arrive_expect_remote(barrier, rank, bytes, site);
}

WT_DEVICE void tma_load_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c0, i32 c1,
                             CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, 0, 2, {c0, c1}, {}, policy, true}, site);
}
WT_DEVICE void tma_load_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c0, i32 c1, i32 c2,
                             CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, 0, 3, {c0, c1, c2}, {}, policy, true}, site);
}
WT_DEVICE void tma_load_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c0, i32 c1, i32 c2, i32 c3,
                             CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, 0, 4, {c0, c1, c2, c3}, {}, policy, true}, site);
}
WT_DEVICE void tma_load_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c0, i32 c1, i32 c2, i32 c3,
                             i32 c4, CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, 0, 5, {c0, c1, c2, c3, c4}, {}, policy, true}, site);
}
WT_DEVICE void tma_load_pair_multicast(SharedAddress to, const TensorMap& map, u32 barrier, u16 mask, i32 c0, i32 c1,
                                       CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, mask, 2, {c0, c1}, {}, policy, true}, site);
}
WT_DEVICE void tma_load_pair_multicast(SharedAddress to, const TensorMap& map, u32 barrier, u16 mask, i32 c0, i32 c1,
                                       i32 c2, CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, mask, 3, {c0, c1, c2}, {}, policy, true}, site);
}
WT_DEVICE void tma_load_im2col_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c, i32 w, i32 n, u16 tap_w,
                                    CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, 0, 3, {c, w, n}, {tap_w}, policy, true}, site);
}
WT_DEVICE void tma_load_im2col_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c, i32 w, i32 h, i32 n,
                                    u16 tap_w, u16 tap_h, CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, 0, 4, {c, w, h, n}, {tap_w, tap_h}, policy, true}, site);
}
WT_DEVICE void tma_load_im2col_pair(SharedAddress to, const TensorMap& map, u32 barrier, i32 c, i32 w, i32 h, i32 d,
                                    i32 n, u16 tap_w, u16 tap_h, u16 tap_d, CachePolicy policy = kCacheNormal,
                                    WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, 0, 5, {c, w, h, d, n}, {tap_w, tap_h, tap_d}, policy, true}, site);
}
WT_DEVICE void tma_load_im2col_pair_multicast(SharedAddress to, const TensorMap& map, u32 barrier, u16 mask, i32 c,
                                              i32 w, i32 n, u16 tap_w, CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, mask, 3, {c, w, n}, {tap_w}, policy, true}, site);
}
WT_DEVICE void tma_load_im2col_pair_multicast(SharedAddress to, const TensorMap& map, u32 barrier, u16 mask, i32 c,
                                              i32 w, i32 h, i32 n, u16 tap_w, u16 tap_h,
                                              CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, mask, 4, {c, w, h, n}, {tap_w, tap_h}, policy, true}, site);
}
WT_DEVICE void tma_load_im2col_pair_multicast(SharedAddress to, const TensorMap& map, u32 barrier, u16 mask, i32 c,
                                              i32 w, i32 h, i32 d, i32 n, u16 tap_w, u16 tap_h, u16 tap_d,
                                              CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, mask, 5, {c, w, h, d, n}, {tap_w, tap_h, tap_d}, policy, true}, site);
}

}  // namespace wt::device
