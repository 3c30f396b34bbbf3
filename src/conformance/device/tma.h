// SPDX-License-Identifier: Apache-2.0
// conformance/device/tma.h - bulk copies: the bytes that a load leaves in shared memory, and those that a store writes.
#pragma once

#include "conformance/device/arguments.h"
#include "target/hopper.h"

namespace wt::probe {

using namespace wt::device;

inline constexpr int kCopyThreads = 128;

WT_DEVICE SharedAddress aligned_base() { return (shared_base() + 1023) & ~1023u; }

WT_DEVICE void load_box(const Params& p, SharedAddress to, SharedAddress barrier, i32 c1) {
  const i32* c = p.at;
  const u16 w = static_cast<u16>(p.tap[0]), h = static_cast<u16>(p.tap[1]), d = static_cast<u16>(p.tap[2]);
  switch (p.form) {
    case 0:
      bulk_load(to, p.in, static_cast<u32>(p.bytes), barrier);
      break;
    case 1:
      tma_load(to, p.map, barrier, c[0]);
      break;
    case 2:
      tma_load(to, p.map, barrier, c[0], c1);
      break;
    case 3:
      tma_load(to, p.map, barrier, c[0], c1, c[2]);
      break;
    case 4:
      tma_load(to, p.map, barrier, c[0], c1, c[2], c[3]);
      break;
    case 5:
      tma_load(to, p.map, barrier, c[0], c1, c[2], c[3], c[4]);
      break;
    case 13:
      tma_load_im2col(to, p.map, barrier, c[0], c1, c[2], w);
      break;
    case 14:
      tma_load_im2col(to, p.map, barrier, c[0], c1, c[2], c[3], w, h);
      break;
    case 15:
      tma_load_im2col(to, p.map, barrier, c[0], c1, c[2], c[3], c[4], w, h, d);
      break;
    case 22:
      tma_load_multicast(to, p.map, barrier, 3, c[0], c1);
      break;
    case 23:
      tma_load_multicast(to, p.map, barrier, 3, c[0], c1, c[2]);
      break;
    case 33:
      tma_load_im2col_multicast(to, p.map, barrier, 3, c[0], c1, c[2], w);
      break;
    case 34:
      tma_load_im2col_multicast(to, p.map, barrier, 3, c[0], c1, c[2], c[3], w, h);
      break;
    case 35:
      tma_load_im2col_multicast(to, p.map, barrier, 3, c[0], c1, c[2], c[3], c[4], w, h, d);
      break;
  }
}

WT_DEVICE void mark_untouched(SharedAddress to, int bytes) {
  for (int i = thread_index(); i < bytes / 4; i += kCopyThreads) store_shared(to + 4 * i, kUntouched);
  fence_async_shared();
}

WT_DEVICE void dump(u8* to, SharedAddress from, int bytes) {
  for (int i = thread_index(); i < bytes / 4; i += kCopyThreads)
    store_global(reinterpret_cast<u32*>(to) + i, load_shared<u32>(from + 4 * i));
}

// One load, then `count` raw bytes. form: 0 plain, 1 to 5 tiled of that rank, 13 to 15 im2col of rank 3 to 5.
struct Load {
  static constexpr int kThreads = kCopyThreads, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress to = aligned_base(), barrier = to + static_cast<u32>(p.count);
    mark_untouched(to, p.count);
    if (thread_index() == 0) {
      mbarrier_init(barrier, 1);
      mbarrier_fence_init();
    }
    sync_block();
    if (thread_index() == 0) {
      if (p.form != 0) tma_prefetch(p.map);
      mbarrier_arrive_expect(barrier, static_cast<u32>(p.bytes));
      load_box(p, to, barrier, p.at[1]);
    }
    mbarrier_wait(barrier, 0);
    dump(p.out, to, p.count);
  }
};

// Each block of a cluster of two loads a box for both, `step` further along dimension 1 for the second; both dump
// 2 * `count` bytes. form: 20 + rank tiled, 30 + rank im2col.
struct Multicast {
  static constexpr int kThreads = kCopyThreads, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress to = aligned_base(), barrier = to + 2 * static_cast<u32>(p.count);
    const u32 rank = cluster_rank();
    mark_untouched(to, 2 * p.count);
    if (thread_index() == 0) {
      mbarrier_init(barrier, 1);
      mbarrier_fence_init();
    }
    cluster_arrive();
    cluster_wait();
    if (thread_index() == 0) {
      mbarrier_arrive_expect(barrier, 2 * static_cast<u32>(p.bytes));
      load_box(p, to + rank * static_cast<u32>(p.count), barrier, p.at[1] + static_cast<i32>(rank) * p.step);
    }
    mbarrier_wait(barrier, 0);
    dump(p.out + static_cast<i32>(rank) * 2 * p.count, to, 2 * p.count);
    cluster_arrive();  // the other block may still write here
    cluster_wait();
  }
};

// `bytes` of input to shared memory, then one store. form: 0 plain, 2 to 5 tiled, 22 reduce add.
struct Store {
  static constexpr int kThreads = kCopyThreads, kMinBlocks = 1;
  using Params = probe::Params;
  WT_DEVICE static void run(const Params& p) {
    const SharedAddress from = aligned_base();
    for (int i = thread_index(); i < p.bytes / 4; i += kThreads)
      store_shared(from + 4 * i, load_global(reinterpret_cast<const u32*>(p.in) + i));
    fence_async_shared();
    sync_block();
    if (thread_index() == 0) {
      const i32* c = p.at;
      switch (p.form) {
        case 0:
          bulk_store(p.out, from, static_cast<u32>(p.bytes));
          break;
        case 2:
          tma_store(p.map, from, c[0], c[1]);
          break;
        case 3:
          tma_store(p.map, from, c[0], c[1], c[2]);
          break;
        case 4:
          tma_store(p.map, from, c[0], c[1], c[2], c[3]);
          break;
        case 5:
          tma_store(p.map, from, c[0], c[1], c[2], c[3], c[4]);
          break;
        case 22:
          tma_reduce_add(p.map, from, c[0], c[1]);
          break;
      }
      bulk_commit();
      bulk_wait<0>();
    }
  }
};

}  // namespace wt::probe
