// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/exchange.h - the parts of a sum that is divided over a cluster meet in each other's shared memory.
//
//   registers --st.shared::cluster--> the block that finishes these columns --in the order of ranks--> registers
//
// Each block finishes an equal share of the tile's blocks of 8 columns, so that every consumer thread keeps its rows.
// No workspace, and the order of the additions is fixed: results repeat bit for bit.
#pragma once

#include "kernel/gemm/tma/output.h"

namespace wt {

template <KernelConfig kConfig>
struct ClusterSum {
  static constexpr int kConsumers = tma_layout::consumers(kConfig);
  static constexpr int kFragments = tma_layout::rows_of_consumer(kConfig) / 64;
  static constexpr int kColumns = kConfig.gemm.tile.n, kBlocks = kColumns / 8, kAllFragments = kConfig.gemm.tile.m / 64;
  using Part = Vector<float, 4>;  // one thread's sums of a block of 8 columns

  SharedAddress parts, barriers;

  WT_DEVICE SharedAddress filled() const { return barriers; }       // all parts of this block's columns are here
  WT_DEVICE SharedAddress emptied() const { return barriers + 8; }  // the others have read what this block sent

  WT_DEVICE void init() const {
    const u32 warps = (device::cluster_blocks() - 1) * 4 * kConsumers;
    device::mbarrier_init(filled(), warps);
    device::mbarrier_init(emptied(), warps);
  }

  // The sums of this block's columns end up in `d`; other columns are left with what they were. `round` counts the
  // block's tiles. Returns the columns.
  WT_DEVICE ColumnBlocks sum(float (&d)[kFragments][kColumns / 2], int consumer, int round, bool last) const {
    const int members = static_cast<int>(device::cluster_blocks()), rank = static_cast<int>(device::cluster_rank());
    const int share = tma_layout::blocks_of_member(kBlocks, members);
    if (round > 0) device::mbarrier_wait(emptied(), static_cast<u32>(round - 1) & 1);
    send(d, consumer, members, rank, share);
    device::mbarrier_wait_cluster(filled(), static_cast<u32>(round) & 1);
    add(d, consumer, members, rank, share);
    // WHY not after the last tile: nobody waits, and the others may be gone.
    if (!last) arrive_at_others(members, rank, emptied());
    return {rank * share, (rank + 1) * share};
  }

 private:
  // Where `from`'s part of the block-th of `to`'s blocks lies in the shared memory of `to`.
  WT_DEVICE SharedAddress place(int from, int to, int block, int share, int fragment) const {
    const int slot = (from - (from > to ? 1 : 0)) * share + block;
    return parts + (slot * kAllFragments + fragment) * tma_layout::kPartBytes + device::thread_index() % 128 * 16;
  }

  WT_DEVICE static void arrive_at_others(int members, int rank, SharedAddress barrier) {
    device::sync_warp();
    if (device::lane_index() != 0) return;
    for (int other = 0; other < members; ++other)
      if (other != rank) device::mbarrier_arrive_remote(barrier, static_cast<u32>(other));
  }

  WT_DEVICE void send(const float (&d)[kFragments][kColumns / 2], int consumer, int members, int rank,
                      int share) const {
    int owner = 0, in_share = 0;
    WT_UNROLL for (int j = 0; j < kBlocks; ++j) {
      if (owner != rank) {
        WT_UNROLL for (int i = 0; i < kFragments; ++i) {
          const SharedAddress to = place(rank, owner, in_share, share, consumer * kFragments + i);
          device::store_cluster(device::cluster_address(to, static_cast<u32>(owner)),
                                Part{{d[i][4 * j], d[i][4 * j + 1], d[i][4 * j + 2], d[i][4 * j + 3]}});
        }
      }
      if (++in_share == share) {
        in_share = 0;
        ++owner;
      }
    }
    device::sync_warp();
    // WHY one fence by the thread that arrives, and not one in each arrival: each waits until the thread's stores have
    // arrived.
    if (device::lane_index() == 0) device::fence_cluster();
    arrive_at_others(members, rank, filled());
  }

  WT_DEVICE void add(float (&d)[kFragments][kColumns / 2], int consumer, int members, int rank, int share) const {
    WT_UNROLL for (int j = 0; j < kBlocks; ++j) {
      const int block = j - rank * share;
      if (block < 0 || block >= share) continue;
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        Part sum{};
        for (int from = 0; from < members; ++from) {
          Part part{{d[i][4 * j], d[i][4 * j + 1], d[i][4 * j + 2], d[i][4 * j + 3]}};
          if (from != rank)
            part = device::load_shared<Part>(place(from, rank, block, share, consumer * kFragments + i));
          WT_UNROLL for (int e = 0; e < 4; ++e) sum.at[e] += part.at[e];
        }
        WT_UNROLL for (int e = 0; e < 4; ++e) d[i][4 * j + e] = sum.at[e];
      }
    }
  }
};

}  // namespace wt
