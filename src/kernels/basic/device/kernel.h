// SPDX-License-Identifier: Apache-2.0
// kernels/basic/device/kernel.h - the generic kernel: implicit GEMM that takes every valid problem on every target.
//
//   global --gather--> registers --> tile (shared) --mma--> registers --epilogue--> global
//
// One tile in shared memory, load, sync, multiply, sync. Blocks walk the tiles of all groups in steps of the grid, so
// no grid limit bounds the problem.
#pragma once

#include "kernels/beside/device/filter_sums.h"
#include "kernels/device/epilogue.h"
#include "kernels/device/gemm/gather.h"

namespace wt {

template <KernelConfig kConfig>
struct BasicGemm {
  using Params = GemmArguments;
  using Map = Coordinates<kConfig.direction>;
  static constexpr int kTileM = kConfig.gemm.tile.m, kTileN = kConfig.gemm.tile.n, kTileK = kConfig.gemm.tile.k;
  static constexpr bool kLast = kConfig.layout == Layout::kChannelsLast;
  static constexpr bool kWeight = kConfig.direction == Direction::kBackwardWeight;
  using TileA = OperandTile<kConfig, kTileM>;
  using TileB = OperandTile<kConfig, kTileN>;
  // WHY the last argument: neighbouring threads take neighbouring addresses, which lie along the rows or along k
  // depending on layout and direction.
  using LoadA = GatherLoader<kConfig, kTileM, operand_a(kConfig), Map::kGatherA, kWeight ? kLast : !kLast>;
  using LoadB = GatherLoader<kConfig, kTileN, operand_b(kConfig), Map::kGatherB,
                             kLast && kConfig.direction != Direction::kForward>;
  // Channels-first outputs of activations are contiguous along the pixels, which are rows.
  static constexpr bool kRowsOut = !kLast && !kWeight;
  static constexpr int kThreads = TileA::kThreads;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    const i64 tiles_m = (p.m + kTileM - 1) / kTileM, tiles_n = (p.n + kTileN - 1) / kTileN;
    const i64 tiles = tiles_m * tiles_n * p.shape.groups;
    Epilogue<kConfig.epilogue, output_type(kConfig)> epilogue;
    for (i64 tile = device::block_index().x; tile < tiles; tile += device::grid_size().x) {
      const i32 group = static_cast<i32>(tile / (tiles_m * tiles_n));
      const i64 n0 = tile % tiles_n * kTileN, m0 = tile / tiles_n % tiles_m * kTileM;
      one_tile(p, group, m0, n0, epilogue);
    }
    epilogue.finish(p.epilogue);
  }

 private:
  struct Shared {  // addresses
    SharedAddress rows_a, rows_b, ks_a, ks_b;
    TileA a;
    TileB b;
  };

  WT_DEVICE static Shared layout() {
    constexpr u32 kEntry = sizeof(Coordinate);
    const SharedAddress base = device::shared_base();
    const SharedAddress rows_b = base + kTileM * kEntry, ks_a = rows_b + kTileN * kEntry, ks_b = ks_a + kTileK * kEntry;
    const SharedAddress tiles = ks_b + kTileK * kEntry;
    return {base, rows_b, ks_a, ks_b, {tiles}, {tiles + TileA::kBytes}};
  }

  // Fills a table of coordinates, an entry a thread.
  template <class Entry>
  WT_DEVICE static void fill(SharedAddress table, int count, Entry&& entry) {
    for (int i = device::thread_index(); i < count; i += kThreads) {
      device::store_shared<Coordinate>(table + i * sizeof(Coordinate), entry(i));
    }
  }

  template <class Steps>
  WT_DEVICE static void one_tile(const Params& p, i32 group, i64 m0, i64 n0, Steps& epilogue) {
    const Shared shared = layout();
    fill(shared.rows_a, kTileM, [&](int i) { return Map::a_row(p, group, m0 + i); });
    fill(shared.rows_b, kTileN, [&](int i) { return Map::b_row(p, group, n0 + i); });

    WarpProduct<kConfig> product;
    product.clear();
    for (i64 k0 = 0; k0 < p.k; k0 += kTileK) {
      fill(shared.ks_a, kTileK, [&](int i) { return Map::a_k(p, k0 + i); });
      fill(shared.ks_b, kTileK, [&](int i) { return Map::b_k(p, k0 + i); });
      device::sync_block();  // tables are written, and the last product has read the tiles
      LoadA::copy(p, p.a, p.scales_a, shared.rows_a, shared.ks_a, shared.a);
      LoadB::copy(p, p.b, p.scales_b, shared.rows_b, shared.ks_b, shared.b);
      device::sync_block();
      product.multiply(shared.a, shared.b);
    }
    device::sync_block();
    write(p, shared, product, group, m0, n0, epilogue);
    device::sync_block();  // the next tile fills the tables again
  }

  template <class Steps>
  WT_DEVICE static void write(const Params& p, const Shared& shared, const WarpProduct<kConfig>& product, i32 group,
                              i64 m0, i64 n0, Steps& epilogue) {
    fill(shared.rows_a, kTileM, [&](int i) { return Map::out_row(p, group, m0 + i); });
    fill(shared.rows_b, kTileN, [&](int i) { return Map::out_col(p, n0 + i); });
    constexpr int kRows = gemm_storage::out_rows(kConfig), kPitch = gemm_storage::out_pitch(kConfig);
    const SharedAddress staging = shared.a.base;
    auto* out = static_cast<typename Steps::Element*>(p.out);
    // WHY through shared memory: neighbouring threads then store neighbouring channels, and the epilogue is one loop
    // instead of one copy for each accumulator.
    WT_UNROLL for (int i = 0; i < WarpProduct<kConfig>::kTilesM; ++i) {
      if (i > 0) device::sync_block();
      product.stage(i, staging);
      device::sync_block();
      for (int index = device::thread_index(); index < kRows * kTileN; index += kThreads) {
        const int staged = kRowsOut ? index % kRows : index / kTileN, n = kRowsOut ? index / kRows : index % kTileN;
        const int m = WarpProduct<kConfig>::row_of(i, staged);
        const Coordinate row = device::load_shared<Coordinate>(shared.rows_a + m * sizeof(Coordinate));
        const Coordinate col = device::load_shared<Coordinate>(shared.rows_b + n * sizeof(Coordinate));
        if (!row.valid || !col.valid) continue;
        const i64 offset = row.offset + col.offset;
        const auto value = device::load_shared<Sum<typename TileA::Element>>(staging + (staged * kPitch + n) * 4);
        Steps::write(out + offset, epilogue.apply(p.epilogue, value, offset, Map::channel(p, group, m0 + m, n0 + n)));
      }
    }
  }
};

}  // namespace wt
