// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/shared.h - the addresses of layout.h's SharedLayout, and the barriers that lie there.
#pragma once

#include "kernels/device/gemm/ring.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tma/device/exchange.h"
#include "target/blackwell.h"

namespace wt {

template <KernelConfig kConfig>
struct Tcgen05Shared {
  static constexpr tcgen05_layout::SharedLayout kAt = tcgen05_layout::shared_layout(kConfig);
  static constexpr int kBlocks = tcgen05_layout::blocks(kConfig), kTiles = tcgen05_layout::cluster_tiles(kConfig);
  static constexpr int kClusterBlocks = tcgen05_layout::cluster_blocks(kConfig);
  static constexpr int kLow = kAt.low;                                         // from a tile to its low parts
  static constexpr bool kChanges = tcgen05_layout::change_warps(kConfig) > 0;  // between copies and products
  static constexpr bool kScaled = tcgen05_layout::has_scales(kConfig);
  static constexpr bool kSums = tcgen05_layout::sums_in_cluster(kConfig);
  using SlotRing = Ring<kConfig.gemm.stages>;
  using SumCursor = RingCursor<tcgen05_layout::accumulators(kConfig)>;
  using AnswerCursor = RingCursor<tcgen05_layout::kAnswers>;
  using OutCursor = RingCursor<2>;

  SharedAddress base;
  SlotRing ring, changed;

  WT_DEVICE static Tcgen05Shared here() {
    const SharedAddress base = aligned_shared_base();
    return {base, {base + kAt.ring}, {base + kAt.changed}};
  }

  WT_DEVICE SharedAddress a_box(int slot, int box) const {
    return base + kAt.a + slot * tcgen05_layout::a_bytes(kConfig) + tcgen05_layout::a_box_at(kConfig, box);
  }
  WT_DEVICE SharedAddress b_box(int slot, int box) const {
    return base + kAt.b + slot * tcgen05_layout::b_bytes(kConfig) + box * tcgen05_layout::b_box_bytes(kConfig);
  }
  WT_DEVICE SharedAddress scales(int slot) const {
    return base + kAt.scales + slot * tcgen05_layout::scale_bytes(kConfig);
  }
  WT_DEVICE ClusterSum<tcgen05_layout::exchanged(kConfig)> sum() const {
    return {base + kAt.exchange, base + kAt.cluster};
  }
  // Whose full slots can be multiplied.
  WT_DEVICE const SlotRing& ready() const { return kChanges ? changed : ring; }
  WT_DEVICE SharedAddress out(int buffer) const { return base + kAt.out + buffer * tcgen05_layout::kChunkBytes; }
  WT_DEVICE SharedAddress answer(int i) const { return base + kAt.answers + 16 * i; }
  WT_DEVICE SharedAddress summed(int i) const { return base + kAt.summed + 8 * i; }
  WT_DEVICE SharedAddress taken(int i) const { return base + kAt.taken + 8 * i; }
  WT_DEVICE SharedAddress answered(int i) const { return base + kAt.answered + 8 * i; }
  WT_DEVICE SharedAddress read(int i) const { return base + kAt.read + 8 * i; }
  WT_DEVICE SharedAddress begun(int i) const { return base + kAt.begun + 8 * i; }
  WT_DEVICE SharedAddress asked(int i) const { return base + kAt.asked + 8 * i; }
  WT_DEVICE SharedAddress residual_full(int i) const { return base + kAt.residual_full + 8 * i; }
  WT_DEVICE SharedAddress residual_empty(int i) const { return base + kAt.residual_empty + 8 * i; }
  WT_DEVICE SharedAddress ordered() const { return base + kAt.ordered; }
  WT_DEVICE SharedAddress tensor() const { return base + kAt.tensor; }

  // This block in its cluster: blocks of a tile are neighbours, then tiles along m, then along n.
  WT_DEVICE static u32 rank() { return kClusterBlocks == 1 ? 0 : device::cluster_rank(); }
  WT_DEVICE static u32 in_tile() { return kBlocks == 1 ? 0 : device::cluster_rank() % kBlocks; }
  WT_DEVICE static u32 tile() { return kTiles == 1 ? 0 : device::cluster_rank() / kBlocks; }

  // By one thread, before all meet.
  WT_DEVICE void init() const {
    if constexpr (kSums) sum().init();
    ring.init(1, kTiles);  // every tile's products give a slot back, as it may hold what another one loads
    if constexpr (kChanges) changed.init(tcgen05_layout::change_warps(kConfig), 1);
    if constexpr (kScaled) changed.init(1, 1);  // one warp brings a slot's scales
    for (int i = 0; i < tcgen05_layout::accumulators(kConfig); ++i) {
      device::mbarrier_init(summed(i), 1);
      device::mbarrier_init(taken(i), tcgen05_layout::kStoreWarps * kBlocks);
    }
    if constexpr (tcgen05_layout::takes_clusters(kConfig)) {
      for (int i = 0; i < tcgen05_layout::kAnswers; ++i) {
        device::mbarrier_init(answered(i), 1);
        device::mbarrier_init(read(i), kClusterBlocks * tcgen05_layout::answer_readers(kConfig) + 1);
        device::mbarrier_init(begun(i), 1);
        device::mbarrier_init(asked(i), 1);
      }
    }
    if constexpr (tcgen05_layout::copies_residual(kConfig)) {
      for (int i = 0; i < 2; ++i) {
        device::mbarrier_init(residual_full(i), 1);
        device::mbarrier_init(residual_empty(i), 1);
      }
      device::mbarrier_init(ordered(), 1);
    }
  }

  // All threads of the block, or of its cluster.
  WT_DEVICE static void meet() {
    if constexpr (kClusterBlocks == 1 && !kSums) {
      device::sync_block();
    } else {
      device::cluster_arrive();
      device::cluster_wait();
    }
  }
  // Arrives at a barrier of block `to` of the cluster.
  WT_DEVICE static void arrive(SharedAddress barrier, u32 to) {
    if constexpr (kClusterBlocks == 1) {
      device::mbarrier_arrive(barrier);
    } else {
      device::mbarrier_arrive_remote(barrier, to);
    }
  }
  // Products of this thread are done: at the barriers of all blocks of the tile, or of the cluster.
  WT_DEVICE static void commit(SharedAddress barrier, bool cluster) {
    if constexpr (kClusterBlocks == 1) {
      device::tensor_commit<kBlocks>(barrier);
    } else {
      constexpr u32 kAll = (1u << kClusterBlocks) - 1, kOfTile = (1u << kBlocks) - 1;
      device::tensor_commit_multicast<kBlocks>(barrier,
                                               static_cast<u16>(cluster ? kAll : kOfTile << (tile() * kBlocks)));
    }
  }
};

}  // namespace wt
