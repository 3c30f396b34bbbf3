// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/device/output.h - the sums of a halo kernel's tile on their way to global memory (kernel.h).
//
//   registers --epilogue--> staging --> pixels by vectors, or boxes of 8x8 by bulk stores
//   registers of a part --> the cluster's sum --epilogue--> pixels, or as they are --> one part of the workspace
#pragma once

#include "kernels/tma/device/exchange.h"
#include "kernels/tma/device/output.h"
#include "kernels/tma_halo/device/arguments.h"

namespace wt {

struct HaloTile {
  i32 image, d, h, w;  // of the first output pixel
  i64 n;
  i32 group;
  i32 part;
  int order;            // among the block's tiles
  bool last, own_last;  // of the block, of this consumer
};

// Output pixels of a fragment of 8x8, in the order of its rows.
struct PixelRows {
  const TmaHaloArguments& p;
  i32 image, d, h, w;
  WT_DEVICE i64 offset(int row) const {
    constexpr int kEdge = tma_layout::kHaloEdge;
    const i32 y = h + row / kEdge, x = w + row % kEdge;
    if (image >= p.images || y >= p.size[1] || x >= p.size[2]) return -1;
    return image * p.out_stride[0] + d * p.out_stride[1] + y * p.out_stride[2] + x * p.out_stride[3];
  }
};

// The outputs of one phase, of 8x8 points of the lattice: `phase` tells the parity of the taps that meet them.
struct PhaseRows {
  const TmaHaloArguments& p;
  i32 image, h, w;
  int phase;
  WT_DEVICE i64 offset(int row) const {
    constexpr int kEdge = tma_layout::kHaloEdge;
    const i32 y = 2 * (h + row / kEdge) + (phase / 2 ^ p.odd_padding[0]),
              x = 2 * (w + row % kEdge) + (phase % 2 ^ p.odd_padding[1]);
    if (y >= p.image_size[0] || x >= p.image_size[1]) return -1;
    return image * p.out_stride[0] + y * p.out_stride[2] + x * p.out_stride[3];
  }
};

template <KernelConfig kConfig>
struct HaloOutput {
  using Params = TmaHaloArguments;
  using Output = TmaOutput<kConfig, Params>;
  static constexpr int kTileN = kConfig.gemm.tile.n, kConsumers = tma_layout::consumers(kConfig);
  static constexpr int kFragments = tma_layout::rows_of_consumer(kConfig) / 64, kEdge = tma_layout::kHaloEdge;
  static constexpr bool kClusterSum = kConfig.gemm.split_k == SplitK::kCluster;

  // A share of the rows of the whole sum, or all of a part of it.
  WT_DEVICE static void store_divided(const Params& p, const ClusterSum<kConfig>& sum, const HaloTile& tile, int part,
                                      const float (&d)[kFragments][kTileN / 2]) {
    const bool below = p.stacked == 1;
    const auto rows = [&](int fragment) {  // of the tile
      return PixelRows{p, tile.image + (below ? 0 : fragment), tile.d, tile.h + (below ? fragment * kEdge : 0), tile.w};
    };
    if constexpr (kClusterSum) {
      typename Output::Steps steps;
      sum.sum(d, part, tile.order, tile.last, [&](int row, int column, const float(&sums)[8]) {
        Output::store_eight(p, rows(row / 64), {tile.n * kTileN, tile.group}, row % 64, column, sums, steps);
      });
      steps.finish(p.epilogue);
    } else {
      using Parts = TmaOutput<parts_of(kConfig), Params, false>;  // WHY false here: GCC 12 fails to work it out
      typename Parts::Steps none;
      WT_UNROLL for (int i = 0; i < kFragments; ++i) {
        const PartRows<PixelRows> pixels{rows(part * kFragments + i), tile.part * p.part_elements};
        Parts::store_direct(p, pixels, {tile.n * kTileN, tile.group}, d[i], none);
      }
    }
  }

  template <int kUsed>
  WT_DEVICE static void store(const Params& p, SharedAddress out, const HaloTile& tile, int consumer, int part,
                              const float (&d)[kFragments][kTileN / 2]) {
    typename Output::Steps steps;
    const typename Output::Place place{tile.n * kTileN, tile.group};
    const auto rows = [&](int fragment) {
      const i32 h = tile.h + part * kFragments * kEdge;
      return PixelRows{p, tile.image, tile.d, h + fragment * kEdge, tile.w};
    };
    const SharedAddress staging = out + consumer * tma_layout::out_bytes(kConfig) / kConsumers;
    if constexpr (kConfig.gemm.staging == Staging::kTmaStore) {
      constexpr int kFragmentBytes = 64 * 128 * tma_layout::out_boxes(kConfig);
      const bool sends = device::thread_index() % 128 == 0;
      if (sends) device::bulk_wait_read<0>();  // the tile before has left the staging buffer
      device::sync_named(3 + consumer, 128);
      WT_UNROLL for (int i = 0; i < kUsed; ++i) {
        Output::stage(p, rows(i), place, d[i], steps, staging + i * kFragmentBytes);
      }
      device::fence_async_shared();
      device::sync_named(3 + consumer, 128);
      if (sends) {
        WT_UNROLL for (int i = 0; i < kUsed; ++i) send(p, rows(i), place, staging + i * kFragmentBytes);
        // WHY here and not after the loop: code behind the persistent loop makes ptxas ignore the register moves.
        if (tile.own_last) device::bulk_wait_read<0>();
      }
    } else {
      WT_UNROLL for (int i = 0; i < kUsed; ++i) {
        Output::stage(p, rows(i), place, d[i], steps, staging);
        Output::copy_rows(p, rows(i), place, staging);
      }
    }
    steps.finish(p.epilogue);
  }

  // One phase of a tile's outputs, by vectors.
  WT_DEVICE static void store_phase(const Params& p, SharedAddress out, const HaloTile& tile, int consumer, int part,
                                    int phase, const float (&d)[kFragments][kTileN / 2]) {
    typename Output::Steps steps;
    const typename Output::Place place{tile.n * kTileN, tile.group};
    const SharedAddress staging = out + consumer * tma_layout::out_bytes(kConfig) / kConsumers;
    WT_UNROLL for (int i = 0; i < kFragments; ++i) {
      const PhaseRows rows{p, tile.image, tile.h + (part * kFragments + i) * kEdge, tile.w, phase};
      Output::stage(p, rows, place, d[i], steps, staging);
      Output::copy_rows(p, rows, place, staging);
    }
    steps.finish(p.epilogue);
  }

  // Sends 8x8 staged pixels; those outside the image are dropped.
  WT_DEVICE static void send(const Params& p, const PixelRows& rows, const typename Output::Place& place,
                             SharedAddress staging) {
    const i32 column = static_cast<i32>(Output::first_channel(p, place));
    WT_UNROLL for (int box = 0; box < tma_layout::out_boxes(kConfig); ++box) {
      const bool tail = kTileN % 64 != 0 && box == kTileN / 64;
      const TensorMap& map = tail ? p.out_tail : p.out;
      const SharedAddress from = staging + box * (64 * 128);
      if constexpr (kConfig.dims == 3) {
        device::tma_store(map, from, column + 64 * box, rows.w, rows.h, rows.d, rows.image);
      } else {
        device::tma_store(map, from, column + 64 * box, rows.w, rows.h, rows.image);
      }
    }
    device::bulk_commit();
  }
};

}  // namespace wt
