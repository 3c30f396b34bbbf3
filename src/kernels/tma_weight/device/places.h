// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/device/places.h - which elements of the gradient the sums of a part are (part.h).
#pragma once

#include "kernels/device/gemm/part_sum.h"
#include "kernels/tma_weight/device/arguments.h"
#include "kernels/tma_weight/device/store.h"

namespace wt {

// For part_sum.h: rows are output channels, columns blocks of channels of a tap.
template <KernelConfig kConfig>
struct WeightPlaces {
  using Params = TmaWeightArguments;
  static constexpr int kVectors = weight_part::tile_vectors(kConfig);

  WT_DEVICE static u32 tiles(const Params& p) { return tiles_of_part(p); }
  WT_DEVICE static PartSums sums(const Params& p, u32 number, int vector) {
    constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n, kBlock = tma_layout::box_k(kConfig);
    const TileIndex tile = tile_of_number(p, number);
    const int thread = vector % 128, lane = thread % 32, fragment = vector / (16 * kTileN);
    const int column = vector % (16 * kTileN) / 128 * 8 + 2 * (lane % 4);
    const i32 block = static_cast<i32>(tile.n) * (kTileN / kBlock) + column / kBlock, tap = block / p.channel_blocks;
    const i32 channel = (block - tap * p.channel_blocks) * kBlock + column % kBlock;
    const i32 first = static_cast<i32>(tile.m) * kTileM + fragment * 64 + thread / 32 * 16 + lane / 4;
    PartSums sums;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      const i32 row = first + i / 2 * 8;
      sums.channel[i] = tile.group * p.rows + row;
      const i64 at = (static_cast<i64>(sums.channel[i]) * p.taps + tap) * p.channels + channel + i % 2;
      sums.at[i] = row < p.rows && tap < p.taps && channel + i % 2 < p.channels ? at : -1;
    }
    return sums;
  }
};

}  // namespace wt
