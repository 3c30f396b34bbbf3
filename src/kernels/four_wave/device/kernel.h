// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/device/kernel.h - implicit GEMM by four waves on CDNA: a matrix product whose A loader knows
// pixels. Backward data is the same of dy and the transposed filter, phase by phase.
//
//   global --loader.h--> two stages (shared, swizzled) --quadrants.h--> accumulators --output.h--> global
#pragma once

#include "kernels/beside/device/fnuz_copy.h"
#include "kernels/beside/device/transpose_filter.h"
#include "kernels/four_wave/device/loader.h"
#include "kernels/four_wave/device/order.h"
#include "kernels/four_wave/device/quadrants.h"

namespace wt {

template <KernelConfig kConfig>
struct FourWaveGemm {
  using Params = FourWaveArguments<four_wave_layout::phases(kConfig)>;
  static constexpr int kThreads = four_wave_layout::kThreads;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const u32 index = chiplet_order(static_cast<u32>(device::block_index().x), p.tiles, p.chiplets);
    const FourWavePhase& phase = p.phases[phase_of(p, index)];
    const TilePlace place = tile_place(index - phase.first_tile, phase.tiles_m, p.tiles_n, kConfig.gemm.block_swizzle);
    const u32 pixel = place.m * kTileM, channel = place.n * kTileN;
    Accumulators c;
    accumulate(p, phase, place.group, pixel, channel, c);
    device::sync_block();  // the stages are free
    FourWaveOutput<kConfig>::write(p, phase, place.group, pixel + Products::wave_pixel(),
                                   channel + Products::wave_channel(), c);
  }

 private:
  using LoaderA = PixelLoader<kConfig>;
  using LoaderB = MatrixLoader<kConfig, kConfig.gemm.tile.n>;
  static constexpr bool kCopies = four_wave_layout::copies(kConfig);
  static constexpr int kRows = LoaderA::Chunk::kRows + LoaderB::Chunk::kRows;
  using Products =
      Quadrants<kConfig, RowPlaces<four_wave_layout::span(kConfig)>, kCopies, kRows, kRows * LoaderA::Chunk::kVectors>;
  using Accumulators = typename Products::Accumulators;
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n;
  static constexpr int kABytes = four_wave_layout::a_bytes(kConfig);

  // The last whose tiles do not start behind this one.
  WT_DEVICE static u32 phase_of(const Params& p, u32 tile) {
    u32 phase = 0;
    if constexpr (four_wave_layout::phases(kConfig) > 1) {
      while (phase + 1 < p.phase_count && p.phases[phase + 1].first_tile <= tile) ++phase;
    }
    return phase;
  }

  WT_DEVICE static void accumulate(const Params& p, const FourWavePhase& phase, u32 group, u32 pixel, u32 channel,
                                   Accumulators& c) {
    LoaderA load_a;
    load_a.start(p, phase, group, pixel);
    LoaderB load_b;
    const u32 left = static_cast<u32>(p.columns) - channel, rows = left < kTileN ? left : kTileN;
    load_b.start(static_cast<const char*>(p.b) + (static_cast<i64>(group) * p.columns + channel) * p.filter_bytes +
                     phase.filter_start,
                 static_cast<i64>(rows) * p.filter_bytes - phase.filter_start, static_cast<u32>(p.filter_bytes),
                 phase.depth);

    const SharedAddress base = device::shared_base();
    const i32 blocks = (phase.depth + kConfig.gemm.tile.k - 1) / kConfig.gemm.tile.k;
    typename LoaderA::Chunk chunk_a;
    typename LoaderB::Chunk chunk_b;
    const auto fetch = [&](SharedAddress stage) {
      if constexpr (kCopies) {
        chunk_a.aim(stage);
        chunk_b.aim(stage + kABytes);
      }
      load_a.fetch(p, phase, chunk_a);
      load_b.fetch(p, phase, chunk_b);
    };
    const auto store = [&](SharedAddress stage) {
      if constexpr (kCopies) return;
      chunk_a.store(stage);
      chunk_b.store(stage + kABytes);
    };
    Products::accumulate(base, blocks, fetch, store, c);
  }
};

}  // namespace wt
