// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/stream_sum.h - adds the pieces of tiles that stream-K has cut, then the epilogue.
//
//   workspace (slots, tile.m, tile.n) fp32 --in the order of blocks--> output
//
// The second launch of kernel.h and kind tma_weight with stream-K; it takes their parameter block. Tiles that one block
// had whole are in place already. A thread has four neighbouring columns of a row. WHY no more: cut tiles are few, and
// their pieces come back sooner the more threads ask for them.
#pragma once

#include "kernels/device/overlap.h"
#include "kernels/tma/device/output.h"
#include "kernels/tma/device/schedule.h"
#include "kernels/tma/device/stream.h"
#include "kernels/tma_weight/device/arguments.h"

namespace wt {

// Neighbouring elements of the output, `left` of which exist; the first one's channel, and from one's to the next's.
struct StreamPlace {
  i64 offset, channel;
  i32 left, channel_step;
};

// `Places` tells them: Params, out(p), and at(p, tile, row, column), of a tile's rows and columns.
template <KernelConfig kConfig, class Places>
struct StreamSum {
  using Params = typename Places::Params;
  static constexpr int kThreads = StreamShares::kSumThreads;
  static constexpr int kMinBlocks = 5;  // their loads together fill the way to the L2

  WT_DEVICE static void run(const Params& p) {
    constexpr u32 kBlocks = (kTileM * kTileN + kThreads * kWidth - 1) / (kThreads * kWidth);  // of a tile
    const StreamShares cut = p.stream;
    const u32 block = static_cast<u32>(device::block_index().x), tile = block / kBlocks;
    const int in_tile = static_cast<int>((block - tile * kBlocks) * kThreads + device::thread_index()) * kWidth;
    const u32 first = cut.owner(tile * cut.depth), last = cut.owner((tile + 1) * cut.depth - 1);
    StreamPlace place{};
    if (first != last && in_tile < kTileM * kTileN) {
      const TileIndex at = tile_at<kConfig.gemm.raster, kConfig.gemm.block_swizzle>(
          cut.whole() + tile, static_cast<u32>(p.tiles_m), static_cast<u32>(p.tiles_n));
      place = Places::at(p, at, in_tile / kTileN, in_tile % kTileN);
    }
    // WHY by all: what follows in the stream waits for this launch, which waits for the pieces.
    wait_for_parts<kConfig>();
    if (first == last) return;
    Steps steps;
    if (place.left > 0) {
      const float* pieces = p.partials + in_tile;
      const Four sum =
          add_pieces(pieces + i64{cut.slot(first, tile)} * kSlot, pieces + i64{2 * first} * kSlot, last - first + 1);
      store_neighbours(p.epilogue, Places::out(p), sum.at, place.left, place.offset, place.channel, place.channel_step,
                       steps);
    }
    steps.finish(p.epilogue);
  }

 private:
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n, kWidth = StreamShares::kSumWidth;
  static constexpr i64 kSlot = kTileM * kTileN;
  static constexpr u32 kBatch = 4;  // pieces on their way at the same time
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Four = Vector<float, kWidth>;

  // The first piece may be its block's last. To the others the tile is the block's first: they lie two slots apart.
  WT_DEVICE static Four add_pieces(const float* first, const float* others, u32 count) {
    const auto load = [&](u32 i) {
      return device::load_global(reinterpret_cast<const Four*>(i == 0 ? first : others + 2 * i * kSlot));
    };
    Four sum{};
    for (u32 i = 0; i < count; i += kBatch) {
      Four part[kBatch];
      WT_UNROLL for (u32 j = 0; j < kBatch; ++j) part[j] = i + j < count ? load(i + j) : Four{};
      WT_UNROLL for (u32 j = 0; j < kBatch; ++j) {
        if (i + j >= count) break;
        WT_UNROLL for (int e = 0; e < kWidth; ++e) sum.at[e] += part[j].at[e];
      }
    }
    return sum;
  }
};

// Forward and backward data: a region's rows, and output channels.
template <KernelConfig kConfig>
struct StreamPlaces {
  using Params = TmaStreamArguments;
  WT_DEVICE static void* out(const Params& p) { return p.y; }
  WT_DEVICE static StreamPlace at(const Params& p, const TileIndex& tile, int row, int column) {
    const RegionRows rows{p.regions[0], tile.m * kConfig.gemm.tile.m};
    const i64 start = rows.offset(row), in_group = tile.n * kConfig.gemm.tile.n + column;
    const i64 channel = static_cast<i64>(tile.group) * p.columns + in_group, left = p.columns - in_group;
    return {start + channel, channel, start < 0 ? 0 : static_cast<i32>(left), 1};
  }
};

// Weight gradients: output channels, and blocks of channels of a tap.
template <KernelConfig kConfig>
struct WeightStreamPlaces {
  using Params = TmaWeightArguments;
  WT_DEVICE static void* out(const Params& p) { return p.dw; }
  WT_DEVICE static StreamPlace at(const Params& p, const TileIndex& tile, int row_of_tile, int column) {
    constexpr int kBlock = tma_layout::box_k(kConfig);
    const i32 row = static_cast<i32>(tile.m) * kConfig.gemm.tile.m + row_of_tile;
    const i32 block = static_cast<i32>(tile.n) * (kConfig.gemm.tile.n / kBlock) + column / kBlock;
    const i32 tap = block / p.channel_blocks, channel = block % p.channel_blocks * kBlock + column % kBlock;
    const i64 filter = static_cast<i64>(tile.group) * p.rows + row;
    return {(filter * p.taps + tap) * p.channels + channel, filter,
            row < p.rows && tap < p.taps ? p.channels - channel : 0, 0};
  }
};

}  // namespace wt
