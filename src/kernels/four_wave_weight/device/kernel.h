// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave_weight/device/kernel.h - the weight gradient by four waves on CDNA: output channels by numbers of
// the filter, summed over pixels.
//
//   dy, x --loader.h, transposed--> two stages (shared) --four_wave/device/quadrants.h--> accumulators --output.h--> dw
//
// The sum is whole, or divided among blocks whose parts split_sum.h adds.
#pragma once

#include "kernels/beside/device/split_sum.h"
#include "kernels/four_wave/device/order.h"
#include "kernels/four_wave/device/quadrants.h"
#include "kernels/four_wave_weight/device/loader.h"
#include "kernels/four_wave_weight/device/output.h"

namespace wt {

template <KernelConfig kConfig>
struct FourWaveWeight {
  using Params = FourWaveWeightArguments;
  static constexpr int kThreads = four_wave_layout::kThreads;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const u32 index = chiplet_order(static_cast<u32>(device::block_index().x), p.items, p.chiplets);
    const u32 split = quotient(index, p.tiles);
    const TilePlace place = tile_place(index - split * p.tiles.by, p.tiles_m, p.tiles_n, kConfig.gemm.block_swizzle);
    const u32 row = place.m * kConfig.gemm.tile.m, column = place.n * kConfig.gemm.tile.n;
    const i32 first = static_cast<i32>(split) * p.blocks_per_split, left = p.pixel_blocks - first;
    GradientLoader<kConfig> load_a;
    load_a.start(p, place.group, row, first * kConfig.gemm.tile.k);
    ImageColumns<kConfig> load_b;
    load_b.start(p, place.group, column, first * kConfig.gemm.tile.k);
    typename GradientLoader<kConfig>::Chunk chunk_a;
    typename ImageColumns<kConfig>::Chunk chunk_b;
    const auto fetch = [&](SharedAddress) {
      load_a.fetch(p, chunk_a);
      load_b.fetch(p, chunk_b);
    };
    const auto store = [&](SharedAddress stage) {
      chunk_a.store(stage);
      chunk_b.store(stage + Products::kABytes);
    };
    typename Products::Accumulators c;
    Products::accumulate(device::shared_base(), left < p.blocks_per_split ? left : p.blocks_per_split, fetch, store, c);
    device::sync_block();  // the stages are free
    FourWaveWeightOutput<kConfig>::write(p, place.group, static_cast<i32>(split),
                                         static_cast<i32>(row) + Products::wave_pixel(),
                                         static_cast<i32>(column) + Products::wave_channel(), c);
  }

 private:
  static constexpr int kRows = GradientLoader<kConfig>::Chunk::kChannels + ImageColumns<kConfig>::Chunk::kChannels;
  using Products = Quadrants<kConfig, TurnedPlaces<four_wave_layout::span(kConfig)>, false, kRows,
                             2 * four_wave_weight_layout::kPixels, true>;
};

}  // namespace wt
