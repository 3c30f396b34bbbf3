// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/stream_sum.h - adds the pieces of tiles that stream-K has cut, then the epilogue.
//
//   workspace (slots, tile.m, tile.n) fp32 --in the order of blocks, or as a tree of pairs--> dw
//
// The second launch of weight_kernel.h with stream-K; it takes the same parameter block. Tiles that one block
// had whole are in place already.
#pragma once

#include "kernel/direct/overlap.h"
#include "kernel/epilogue.h"
#include "kernel/gemm/storage.h"
#include "kernel/gemm/tma/schedule.h"
#include "kernel/gemm/tma/weight_arguments.h"
#include "kernel/gemm/tree_sum.h"

namespace wt {

template <KernelConfig kConfig>
struct StreamSum {
  using Params = TmaWeightArguments;
  static constexpr int kThreads = kStreamSumThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    wait_for_parts<kConfig>();
    Steps steps;
    const StreamCut cut = stream_cut(p);
    for (i64 tile = device::block_index().x; tile < cut.tiles; tile += device::grid_size().x) {
      const i64 first = cut.owner(tile * cut.depth), last = cut.owner((tile + 1) * cut.depth - 1);
      if (first == last) continue;
      const TileIndex at = tile_at<kConfig.gemm.raster, kConfig.gemm.block_swizzle>(
          static_cast<u32>(tile), static_cast<u32>(p.tiles_m), static_cast<u32>(p.tiles_n));
      for (int i = device::thread_index() * kWidth; i < kTileM * kTileN; i += kThreads * kWidth)
        sum(p, cut, tile, at, first, last, i, steps);
    }
    steps.finish(p.epilogue);
  }

 private:
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n, kWidth = 4;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  using Four = Vector<float, kWidth>;

  // Four columns of a row, `place` in the tile. A tile's columns are blocks of channels of a tap.
  WT_DEVICE static void sum(const Params& p, const StreamCut& cut, i64 tile, const TileIndex& at, i64 first, i64 last,
                            int place, Steps& steps) {
    const i32 row = static_cast<i32>(at.m) * kTileM + place / kTileN, column = place % kTileN;
    constexpr int kBlock = tma_layout::box_k(kConfig);
    const i32 block = static_cast<i32>(at.n) * (kTileN / kBlock) + column / kBlock, tap = block / p.channel_blocks;
    const i32 channel = block % p.channel_blocks * kBlock + column % kBlock;
    if (row >= p.rows || tap >= p.taps) return;
    const auto load = [&](i64 from) {
      const float* piece = p.partials + cut.slot(from, tile) * (kTileM * kTileN) + place;
      return device::load_global(reinterpret_cast<const Four*>(piece));
    };
    Four sum{};
    if constexpr (kConfig.gemm.stream_k == StreamK::kTree) {
      sum = add_in_tree<Four, kWidth, kStreamTreeLevels>(static_cast<u32>(last - first + 1),
                                                         [&](u32 i) { return load(first + i); });
    } else {
      for (i64 from = first; from <= last; ++from) {
        const Four part = load(from);
        WT_UNROLL for (int i = 0; i < kWidth; ++i) sum.at[i] += part.at[i];
      }
    }
    const i64 filter = static_cast<i64>(at.group) * p.rows + row;
    const i64 offset = (filter * p.taps + tap) * p.channels + channel;
    WT_UNROLL for (int i = 0; i < kWidth; ++i) {
      if (channel + i >= p.channels) break;
      Steps::write(static_cast<Element*>(p.dw) + offset + i, steps.apply(p.epilogue, sum.at[i], offset + i, filter));
    }
  }
};

}  // namespace wt
