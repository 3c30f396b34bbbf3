// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/schedule.h - which tile a cluster works on next: a walk in steps of the grid, or what launch
// control hands out.
//
// Every warp walks by itself. With launch control a warp of the first block asks for the next cluster whenever the
// loads of a tile have begun, so that none takes more than it can do; the answer comes to every block, and its slot is
// asked for again when all have read it.
#pragma once

#include "kernels/tcgen05/device/shared.h"
#include "kernels/tma/device/schedule.h"

namespace wt {

template <KernelConfig kConfig>
class TileWalk {
 public:
  using Shared = Tcgen05Shared<kConfig>;
  static constexpr bool kTakes = tcgen05_layout::takes_clusters(kConfig);
  static constexpr bool kParts = kConfig.gemm.split_k == SplitK::kWorkspace;
  static_assert(!Shared::kSums || (!kTakes && Shared::kClusterBlocks == 1));

  template <class Params>
  WT_DEVICE explicit TileWalk(const Params& p) {
    constexpr GemmConfig kGemm = kConfig.gemm;
    const u32 members = Shared::kSums ? device::cluster_blocks() : static_cast<u32>(Shared::kClusterBlocks);
    at_ = static_cast<u32>(device::block_index().x) / members;
    step_ = static_cast<u32>(device::grid_size().x) / members;
    tiles_m_ = static_cast<u32>(p.tiles_m) / kGemm.cluster_m;
    tiles_n_ = static_cast<u32>(p.tiles_n) / kGemm.cluster_n;
    groups_ = static_cast<u32>(p.groups);
    items_ = tiles_m_ * tiles_n_ * groups_;
    if constexpr (kParts) items_ *= static_cast<u32>(p.splits);
    more_ = at_ < items_;
  }

  WT_DEVICE bool more() const { return more_; }

  // This block's tile of those that its cluster works on now. Parts of sums come one after the other, of all tiles
  // each.
  WT_DEVICE Work work() const {
    constexpr GemmConfig kGemm = kConfig.gemm;
    Work work{{}, 0, order_, at_ + step_ >= items_, false};
    u32 at = at_;
    if constexpr (kParts) {
      const u32 tiles = tiles_m_ * tiles_n_ * groups_;
      work.part = static_cast<i32>(at / tiles);
      at -= static_cast<u32>(work.part) * tiles;
    }
    if constexpr (Shared::kSums) work.part = static_cast<i32>(device::cluster_rank());
    work.tile = tile_at<kGemm.raster, kGemm.block_swizzle>(at, tiles_m_, tiles_n_);
    if constexpr (Shared::kTiles > 1) {
      const u32 tile = Shared::tile();
      work.tile.m = work.tile.m * kGemm.cluster_m + tile % kGemm.cluster_m;
      work.tile.n = work.tile.n * kGemm.cluster_n + tile / kGemm.cluster_m;
    }
    return work;
  }

  // By whole warps.
  WT_DEVICE void next(const Shared& shared) {
    if constexpr (kTakes) {
      device::mbarrier_wait(shared.answered(answer_.slot), answer_.phase);
      const device::TakenCluster cluster = device::taken_cluster(shared.answer(answer_.slot));
      device::fence_async_shared();  // the next answer overwrites what was read
      device::sync_warp();
      if (device::lane_index() == 0) Shared::arrive(shared.read(answer_.slot), 0);
      answer_.next();
      at_ = static_cast<u32>(cluster.first.x) / Shared::kClusterBlocks;
      more_ = cluster.taken;
    } else {
      at_ += step_;
      ++order_;
      more_ = at_ < items_;
    }
  }

 private:
  u32 at_, step_, tiles_m_, tiles_n_, groups_, items_;
  int order_ = 0;
  bool more_;
  typename Shared::AnswerCursor answer_;
};

// The warp that asks, in a cluster's first block.
template <KernelConfig kConfig, class Params>
WT_DEVICE void schedule_tiles(const Params& p, const Tcgen05Shared<kConfig>& shared) {
  using Shared = Tcgen05Shared<kConfig>;
  typename Shared::AnswerCursor at;
  for (TileWalk<kConfig> walk(p); walk.more(); walk.next(shared)) {
    device::mbarrier_wait(shared.begun(at.slot), at.phase);
    device::mbarrier_wait(shared.read(at.slot), at.phase ^ 1);
    if (device::elect()) {
      device::mbarrier_arrive(shared.asked(at.slot));
      for (u32 block = 0; block < Shared::kClusterBlocks; ++block) {
        if constexpr (Shared::kClusterBlocks == 1) {
          device::mbarrier_arrive_expect(shared.answered(at.slot), 16);
        } else {
          device::mbarrier_arrive_expect_remote(shared.answered(at.slot), block, 16);
        }
      }
      device::take_cluster(shared.answer(at.slot), shared.answered(at.slot));
    }
    device::sync_warp();
    at.next();
  }
}

}  // namespace wt
