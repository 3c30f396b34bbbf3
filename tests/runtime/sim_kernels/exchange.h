// SPDX-License-Identifier: Apache-2.0
// Kernels without bulk copies, and of clusters, for the checker's own tests. Fault 0 is right; every other value plants
// one mistake.
#include "target/hopper.h"

namespace wt::probe {

using namespace wt::device;

// D (64, 64) = A (64, k) * B (k, 64) by cp.async, ldmatrix and mma.sync, two stages, four warps.
struct MmaParams {
  const Bf16* a;
  const Bf16* b;
  float* d;
  i32 k;
  int fault;
};

struct MmaSyncProduct {
  static constexpr int kThreads = 128, kMinBlocks = 1, kStage = 64 * 32 * 2 * 2;
  static constexpr u32 kSharedBytes = 2 * kStage;
  using Params = MmaParams;
  enum Fault {
    kNone,
    kNoCopyWait,
    kNoBarrierAfterCopy,
    kNoBarrierBeforeReuse,
    kMisalignedCopy,
    kMisalignedRow,
    kSharedOutside,
    kGlobalOutside,
    kDivergentShuffle,
    kDivergentBarrier,
    kNotUniform,
    kMisalignedVector,
    kValidTooBig,
    kExitInFlight,
    kLoadOutside,
    kCount
  };

  // Rows of 64 bytes (A: 32 of k) and of 128 bytes (B: 64 columns).
  WT_DEVICE static void fetch(const Params& p, SharedAddress stage, int k0) {
    const int t = thread_index();
    for (int i = t; i < 256; i += kThreads) {
      const SharedAddress to = stage + i * 16 + (p.fault == kMisalignedCopy ? 4 : 0);
      copy_async<16>(to, p.a + (i / 4) * p.k + k0 + i % 4 * 8, p.fault == kValidTooBig ? 32 : 16);
    }
    for (int i = t; i < 256; i += kThreads) {
      const int row = k0 + i / 8 + (p.fault == kGlobalOutside ? p.k : 0);
      copy_async<16>(stage + 4096 + i * 16, p.b + row * 64 + i % 8 * 8, 16);
    }
    copy_async_commit();
  }

  WT_DEVICE static void run(const Params& p) {
    using Product = Mma<DataType::kBf16, 16, 8, 16>;
    const int t = thread_index(), lane = lane_index(), warp = p.fault == kNotUniform ? uniform(t) / 32 : warp_index();
    const SharedAddress base = shared_base();
    float d[8][4] = {};
    fetch(p, base, 0);
    for (int k0 = 0; k0 < p.k; k0 += 32) {
      const int now = k0 / 32 % 2;
      if (k0 + 32 < p.k) {
        fetch(p, base + (now ^ 1) * kStage, k0 + 32);
        if (p.fault != kNoCopyWait) copy_async_wait<1>();
      } else if (p.fault != kNoCopyWait) {
        copy_async_wait<0>();
      }
      if (p.fault != kNoBarrierAfterCopy) {
        if (p.fault == kDivergentBarrier) {
          if (lane < 16) sync_named(1, kThreads);
        } else {
          sync_block();
        }
      }
      const SharedAddress a = base + now * kStage + (p.fault == kSharedOutside ? 4 * kStage : 0),
                          b = base + now * kStage + 4096;
      for (int step = 0; step < 2; ++step) {
        u32 fragment[4];
        load_matrix<false>(fragment, a + (warp * 16 + lane % 16) * 64 + step * 32 + lane / 16 * 16 +
                                         (p.fault == kMisalignedRow ? 2 : 0));
        Bf16 left[8];
        for (int i = 0; i < 8; ++i) left[i].bits = static_cast<u16>(fragment[i / 2] >> (16 * (i % 2)));
        Bf16 right[8][4];
        for (int j = 0; j < 8; j += 2) {
          u32 pair[4];
          load_matrix<true>(pair, b + (step * 16 + lane % 16) * 128 + (j + lane / 16) * 16);
          for (int i = 0; i < 8; ++i) right[j + i / 4][i % 4].bits = static_cast<u16>(pair[i / 2] >> (16 * (i % 2)));
        }
        multiply_row<Product>(d, left, right);
      }
      if (p.fault != kNoBarrierBeforeReuse) sync_block();
    }
    if (p.fault == kDivergentShuffle && lane != 7) d[0][0] += shuffle_xor(0.f, 1);
    if (p.fault == kMisalignedVector) d[0][0] += load_shared<Vector<float, 4>>(base + 4).at[0];
    if (p.fault == kLoadOutside) d[0][0] += load_global(p.d + 4096 + t);
    if (p.fault == kExitInFlight) copy_async<16>(base + t * 16, p.a + t * 8, 16);
    for (int j = 0; j < 8; ++j) {
      for (int e = 0; e < 4; ++e) {
        store_global(p.d + (warp * 16 + Product::c_row(lane, e)) * 64 + j * 8 + Product::c_col(lane, e), d[j][e]);
      }
    }
  }
};

// A pair of blocks: rank 0 multicasts tiles to both, both add what they got, and exchange the sums by each other's
// shared memory.
struct PairParams {
  TensorMap in;  // (rows, 32) fp32, a box of 32 x 32
  float* out;    // two sums a pair
  i32 rounds;
  int fault;
};

struct PairSum {
  static constexpr int kThreads = 128, kMinBlocks = 1;
  static constexpr u32 kTile = 32 * 32 * 4, kSharedBytes = 128 + kTile + 1024 + 64;
  using Params = PairParams;
  enum Fault {
    kNone,
    kNoClusterSync,
    kNoRemoteRelease,
    kReleaseWrongRank,
    kNoExchangeBarrier,
    kNoFinalBarrier,
    kMaskTooWide,
    kRankOutside,
    kArriveTwice,
    kNoInitFence,
    kNoCountedWait,
    kCountedElsewhere,
    kCountedTooMuch,
    kCount
  };

  WT_DEVICE static void run(const Params& p) {
    const SharedAddress tile = (shared_base() + 127) & ~127u, sums = tile + kTile, full = sums + 1024, empty = full + 8,
                        mailbox = full + 16, counted = full + 24, pair = full + 32;
    const int t = thread_index();
    const u32 rank = cluster_rank();
    if (t == 0) {
      mbarrier_init(full, 1);
      mbarrier_init(empty, 2);
      mbarrier_init(counted, 1);
      if (p.fault != kNoInitFence) mbarrier_fence_init();
    }
    if (p.fault != kNoClusterSync) {
      cluster_arrive_relaxed();
      cluster_wait();
    }
    sync_block();
    float sum = 0;
    for (int round = 0; round < p.rounds; ++round) {
      if (t == 0) {
        mbarrier_arrive_expect(full, kTile);
        // Both blocks have announced their bytes and emptied the tile when `empty` of rank 0 has both arrivals.
        const u32 to = p.fault == kRankOutside ? 2 : p.fault == kReleaseWrongRank ? 1 : 0;
        if (p.fault != kNoRemoteRelease || rank == 0) mbarrier_arrive_remote(empty, to);
        if (p.fault == kNoRemoteRelease && rank == 0) mbarrier_arrive(empty);
        if (rank == 0) {
          mbarrier_wait(empty, round & 1);
          const u16 mask = p.fault == kMaskTooWide ? 7 : 3;
          tma_load_multicast(tile, p.in, full, mask, 0, (block_index().x / 2 * p.rounds + round) * 32);
        }
      }
      mbarrier_wait(full, round & 1);
      for (int i = t; i < 1024; i += kThreads) sum += load_shared<float>(tile + 4 * i) * (rank + 1);
      sync_block();
    }
    store_shared(sums + 4 * t, sum);
    sync_block();
    if (t == 0) {
      float total = 0;
      for (int i = 0; i < kThreads; ++i) total += load_shared<float>(sums + 4 * i);
      store_cluster(cluster_address(mailbox, rank ^ 1), total);
      mbarrier_arrive_expect(counted, p.fault == kCountedTooMuch ? 8 : 16);
      store_cluster_counted(cluster_address(pair, rank ^ 1), {{total, 1, 0, 0}},
                            cluster_address(counted, p.fault == kCountedElsewhere ? rank : rank ^ 1));
      if (p.fault != kNoCountedWait) mbarrier_wait(counted, 0);
    }
    if (p.fault == kArriveTwice) cluster_arrive();
    if (p.fault != kNoExchangeBarrier) {
      cluster_arrive();
      cluster_wait();
    }
    if (t == 0) {
      const float other = load_shared<float>(mailbox);
      const float again = load_cluster<float>(cluster_address(mailbox, rank ^ 1));  // what I sent
      const auto came = load_shared<Vector<float, 4>>(pair);
      store_global(p.out + block_index().x, (other + 0 * again + came.at[0]) / (came.at[1] + 1));
    }
    if (p.fault != kNoFinalBarrier) {
      cluster_arrive();
      cluster_wait();
    }
  }
};

}  // namespace wt::probe
