// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/schedule.h - which tile a block works on: a fixed walk over all tiles in steps of the grid, a
// list, or the pieces of stream.h.
#pragma once

#include "kernels/tma/device/arguments.h"
#include "kernels/tma/device/layout.h"
#include "target/hopper.h"

namespace wt {

struct TileIndex {
  i64 m, n;
  i32 group;
};

// Tiles in raster order along m or n, in bands `kBand` tiles wide across it, so that blocks running together share
// rows of A and columns of B in the L2.
// WHY 32 bits: dividing 64-bit numbers takes several hundred cycles, and nothing hides a block's first ones.
template <Raster kRaster, int kBand>
WT_DEVICE TileIndex tile_at(u32 index, u32 tiles_m, u32 tiles_n) {
  const u32 per_group = tiles_m * tiles_n;
  const u32 group = index / per_group;
  index -= group * per_group;
  const u32 along = kRaster == Raster::kAlongM ? tiles_m : tiles_n;
  const u32 across = kRaster == Raster::kAlongM ? tiles_n : tiles_m;
  const u32 band = index / (along * kBand);
  const u32 width = across - band * kBand < kBand ? across - band * kBand : kBand;
  index -= band * along * kBand;
  const u32 major = index / width, minor = band * kBand + (index - major * width);
  const auto g = static_cast<i32>(group);
  return kRaster == Raster::kAlongM ? TileIndex{major, minor, g} : TileIndex{minor, major, g};
}

// One tile, or one part of a tile's sum.
struct Work {
  TileIndex tile;
  i32 part;                  // of stream-K the slot of a piece, or kWholeTile
  int order;                 // among the block's own
  bool last;                 // of them
  bool own_last;             // of those of a consumer group, where groups take them in turns
  i32 first = 0, count = 0;  // k-blocks, of stream-K
};
inline constexpr i32 kWholeTile = -1;

// The tiles that the list gives to this block, one after the other.
class ListedTiles {
 public:
  static constexpr u32 kNone = ~0u;

  template <class Params>
  WT_DEVICE u32 next(const Params& p) {
    at_ += width_;
    while (at_ >= end_) {
      if (run_ == p.tile_run_count) return kNone;
      const TileRun& run = p.tile_runs[run_++];
      const u32 offset = static_cast<u32>(device::block_index().x) - run.block;  // large where the block lies before
      at_ = run.first + offset;
      width_ = run.width;
      end_ = offset < run.width ? run.end : 0;
    }
    return at_;
  }

 private:
  i32 run_ = 0;
  u32 at_ = 0, end_ = 0, width_ = 0;
};

template <KernelConfig kConfig, class Params, class Body>
WT_DEVICE void for_listed_work(const Params& p, Body&& body) {
  constexpr GemmConfig kGemm = kConfig.gemm;
  const auto tiles_m = static_cast<u32>(p.tiles_m), tiles_n = static_cast<u32>(p.tiles_n);
  ListedTiles list;
  int order = 0;
  for (u32 index = list.next(p); index != ListedTiles::kNone; ++order) {
    const u32 next = list.next(p);
    body(Work{tile_at<kGemm.raster, kGemm.block_swizzle>(index, tiles_m, tiles_n), 0, order, next == ListedTiles::kNone,
              false});
    index = next;
  }
}

// Blocks of a cluster that share operands take neighbouring tiles, those that divide a sum the parts of one tile. The
// grid has no more blocks than there is work. `kSnake`: every other round goes through the blocks backwards, so that
// those that have done most get the least of work that becomes less.
template <KernelConfig kConfig, bool kSnake, class Params, class Body>
WT_DEVICE void for_work_in_turns(const Params& p, Body&& body) {
  constexpr GemmConfig kGemm = kConfig.gemm;
  constexpr int kM = kGemm.cluster_m, kN = kGemm.cluster_n;
  u32 first = static_cast<u32>(device::block_index().x), step = static_cast<u32>(device::grid_size().x);
  i32 rank = 0;
  if constexpr (tma_layout::in_clusters(kConfig)) {
    const u32 members = device::cluster_blocks();
    rank = static_cast<i32>(device::cluster_rank());
    first /= members;
    step /= members;
  }
  // All work is counted in 31 bits: kernels/tma/bind.cc.
  const u32 tiles_m = static_cast<u32>(p.tiles_m) / kM, tiles_n = static_cast<u32>(p.tiles_n) / kN;
  const u32 tiles = tiles_m * tiles_n * static_cast<u32>(p.groups);
  u32 items = tiles;
  constexpr bool kParts = kGemm.split_k == SplitK::kWorkspace || kGemm.split_k == SplitK::kAtomic;
  if constexpr (kParts) items *= static_cast<u32>(p.splits);
  const auto of_round = [&](u32 round) { return round * step + (kSnake && round % 2 != 0 ? step - 1 - first : first); };
  int order = 0;
  for (u32 index = first; index < items; index = of_round(static_cast<u32>(++order))) {
    const u32 round = static_cast<u32>(order);
    Work work{{}, 0, order, of_round(round + 1) >= items, of_round(round + kGemm.wave_groups) >= items};
    u32 at = index;
    if constexpr (kParts) {
      work.part = static_cast<i32>(index / tiles);
      at = index - static_cast<u32>(work.part) * tiles;
    }
    work.tile = tile_at<kGemm.raster, kGemm.block_swizzle>(at, tiles_m, tiles_n);
    if constexpr (kGemm.split_k == SplitK::kCluster) {
      work.part = rank;
    } else if constexpr (kM * kN > 1) {
      work.tile.m = work.tile.m * kM + rank % kM;
      work.tile.n = work.tile.n * kN + rank / kM;
    }
    body(work);
  }
}

// Stream-K: this block's tiles of whole rounds, then the tiles of which it has k-blocks.
template <KernelConfig kConfig, class Params, class Body>
WT_DEVICE void for_streamed_work(const Params& p, Body&& body) {
  constexpr GemmConfig kGemm = kConfig.gemm;
  const StreamShares cut = p.stream;
  const u32 block = static_cast<u32>(device::block_index().x), begin = cut.first(block), end = cut.first(block + 1);
  u32 tile = begin / cut.depth, tile_begin = tile * cut.depth;
  const u32 all = cut.rounds + (end > begin ? (end - 1) / cut.depth - tile + 1 : 0);
  for (u32 order = 0; order < all; ++order) {
    Work work{{}, kWholeTile, static_cast<int>(order), order + 1 == all, order + kGemm.wave_groups >= all};
    u32 index = order * cut.blocks + block;
    work.count = static_cast<i32>(cut.depth);
    if (order >= cut.rounds) {
      const u32 tile_end = tile_begin + cut.depth, from = begin > tile_begin ? begin : tile_begin;
      work.first = static_cast<i32>(from - tile_begin);
      work.count = static_cast<i32>((tile_end < end ? tile_end : end) - from);
      if (work.count != static_cast<i32>(cut.depth)) work.part = static_cast<i32>(2 * block + (order > cut.rounds));
      index = cut.whole() + tile++;
      tile_begin = tile_end;
    }
    work.tile =
        tile_at<kGemm.raster, kGemm.block_swizzle>(index, static_cast<u32>(p.tiles_m), static_cast<u32>(p.tiles_n));
    body(work);
  }
}

// Calls body(work) for all that this block does.
template <KernelConfig kConfig, bool kSnake = false, class Params, class Body>
WT_DEVICE void for_work(const Params& p, Body&& body) {
  if constexpr (tma_layout::streams(kConfig)) {
    for_streamed_work<kConfig>(p, body);
  } else if constexpr (tma_layout::lists_work(kConfig)) {
    for_listed_work<kConfig>(p, body);
  } else {
    for_work_in_turns<kConfig, kSnake>(p, body);
  }
}

// The region that holds tile m. Few regions, sorted: a linear search.
template <int kRegions>
WT_DEVICE const TmaRegion& region_of(const TmaArguments<kRegions>& p, i64 tile_m) {
  if constexpr (kRegions == 1) {
    return p.regions[0];
  } else {
    int at = 0;
    while (at + 1 < p.region_count && p.regions[at + 1].first_tile <= tile_m) ++at;
    return p.regions[at];
  }
}

}  // namespace wt
