// SPDX-License-Identifier: Apache-2.0
// target/sim/tma.h - bulk copies between global and shared memory. Words: target/cuda/tma.h.
#pragma once

#include "target/cache_policy.h"
#include "target/sim/identity.h"

namespace wt::device {

WT_DEVICE void fence_async_shared(WT_SITE) { sim::table->fence_async_shared(site); }
WT_DEVICE void tma_prefetch(const TensorMap& map, WT_SITE) { sim::table->tma_prefetch(map, site); }
// There is no L2; the byte must exist.
WT_DEVICE void prefetch_l2(const void* address, WT_SITE) { sim::table->prefetch_global(address, site); }

// Tiled loads, rank 1 to 5 by the number of coordinates.
WT_DEVICE void tma_load(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c0,
                        CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, 0, 1, {c0}, {}, policy}, site);
}
WT_DEVICE void tma_load(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c0, i32 c1,
                        CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, 0, 2, {c0, c1}, {}, policy}, site);
}
WT_DEVICE void tma_load(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c0, i32 c1, i32 c2,
                        CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, 0, 3, {c0, c1, c2}, {}, policy}, site);
}
WT_DEVICE void tma_load(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c0, i32 c1, i32 c2, i32 c3,
                        CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, 0, 4, {c0, c1, c2, c3}, {}, policy}, site);
}
WT_DEVICE void tma_load(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c0, i32 c1, i32 c2, i32 c3,
                        i32 c4, CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, 0, 5, {c0, c1, c2, c3, c4}, {}, policy}, site);
}

// The same box to the same address of every block in `mask` of the cluster; each block's barrier gets its bytes.
WT_DEVICE void tma_load_multicast(SharedAddress to, const TensorMap& map, SharedAddress barrier, u16 mask, i32 c0,
                                  i32 c1, CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, mask, 2, {c0, c1}, {}, policy}, site);
}
WT_DEVICE void tma_load_multicast(SharedAddress to, const TensorMap& map, SharedAddress barrier, u16 mask, i32 c0,
                                  i32 c1, i32 c2, CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, false, mask, 3, {c0, c1, c2}, {}, policy}, site);
}

// im2col loads: channel, start pixel (w, h, d), image; tap offsets (w, h, d).
WT_DEVICE void tma_load_im2col(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c, i32 w, i32 n,
                               u16 tap_w, CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, 0, 3, {c, w, n}, {tap_w}, policy}, site);
}
WT_DEVICE void tma_load_im2col(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c, i32 w, i32 h,
                               i32 n, u16 tap_w, u16 tap_h, CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, 0, 4, {c, w, h, n}, {tap_w, tap_h}, policy}, site);
}
WT_DEVICE void tma_load_im2col(SharedAddress to, const TensorMap& map, SharedAddress barrier, i32 c, i32 w, i32 h,
                               i32 d, i32 n, u16 tap_w, u16 tap_h, u16 tap_d, CachePolicy policy = kCacheNormal,
                               WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, 0, 5, {c, w, h, d, n}, {tap_w, tap_h, tap_d}, policy}, site);
}
WT_DEVICE void tma_load_im2col_multicast(SharedAddress to, const TensorMap& map, SharedAddress barrier, u16 mask, i32 c,
                                         i32 w, i32 n, u16 tap_w, CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, mask, 3, {c, w, n}, {tap_w}, policy}, site);
}
WT_DEVICE void tma_load_im2col_multicast(SharedAddress to, const TensorMap& map, SharedAddress barrier, u16 mask, i32 c,
                                         i32 w, i32 h, i32 n, u16 tap_w, u16 tap_h, CachePolicy policy = kCacheNormal,
                                         WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, mask, 4, {c, w, h, n}, {tap_w, tap_h}, policy}, site);
}
WT_DEVICE void tma_load_im2col_multicast(SharedAddress to, const TensorMap& map, SharedAddress barrier, u16 mask, i32 c,
                                         i32 w, i32 h, i32 d, i32 n, u16 tap_w, u16 tap_h, u16 tap_d,
                                         CachePolicy policy = kCacheNormal, WT_SITE) {
  sim::table->tma_load({to, &map, barrier, true, mask, 5, {c, w, h, d, n}, {tap_w, tap_h, tap_d}, policy}, site);
}

// Stores and reductions of a box; elements outside the tensor are dropped.
WT_DEVICE void tma_store(const TensorMap& map, SharedAddress from, i32 c0, i32 c1, WT_SITE) {
  sim::table->tma_store({&map, from, false, 2, {c0, c1}}, site);
}
WT_DEVICE void tma_store(const TensorMap& map, SharedAddress from, i32 c0, i32 c1, i32 c2, WT_SITE) {
  sim::table->tma_store({&map, from, false, 3, {c0, c1, c2}}, site);
}
WT_DEVICE void tma_store(const TensorMap& map, SharedAddress from, i32 c0, i32 c1, i32 c2, i32 c3, WT_SITE) {
  sim::table->tma_store({&map, from, false, 4, {c0, c1, c2, c3}}, site);
}
WT_DEVICE void tma_store(const TensorMap& map, SharedAddress from, i32 c0, i32 c1, i32 c2, i32 c3, i32 c4, WT_SITE) {
  sim::table->tma_store({&map, from, false, 5, {c0, c1, c2, c3, c4}}, site);
}
WT_DEVICE void tma_reduce_add(const TensorMap& map, SharedAddress from, i32 c0, i32 c1, WT_SITE) {
  sim::table->tma_store({&map, from, true, 2, {c0, c1}}, site);
}

// Plain bulk copies of a multiple of 16 bytes.
WT_DEVICE void bulk_load(SharedAddress to, const void* from, u32 bytes, SharedAddress barrier, WT_SITE) {
  sim::table->bulk_load(to, from, bytes, barrier, site);
}
WT_DEVICE void bulk_store(void* to, SharedAddress from, u32 bytes, WT_SITE) {
  sim::table->bulk_store(to, from, bytes, site);
}

WT_DEVICE void bulk_commit(WT_SITE) { sim::table->bulk_commit(site); }
template <int kPending>
WT_DEVICE void bulk_wait(WT_SITE) {
  sim::table->bulk_wait(kPending, false, site);
}
template <int kPending>
WT_DEVICE void bulk_wait_read(WT_SITE) {
  sim::table->bulk_wait(kPending, true, site);
}

}  // namespace wt::device
