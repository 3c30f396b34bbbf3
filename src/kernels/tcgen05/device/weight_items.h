// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/weight_items.h - what a block, or a pair, does of a weight gradient: tiles, or parts of their
// sums over the pixels.
#pragma once

#include "kernels/tcgen05/device/shared.h"
#include "kernels/tma/device/schedule.h"
#include "kernels/tma_weight/device/items.h"

namespace wt {

struct TensorItem {
  TileIndex tile;
  i32 part, first, count;  // blocks of pixels
  int order;               // among the block's items
  bool last;               // of them
};

// Calls body(item) for each. Parts come one after the other, of all tiles each.
template <KernelConfig kConfig, class Params, class Body>
WT_DEVICE void for_tensor_items(const Params& p, Body&& body) {
  using Shared = Tcgen05Shared<kConfig>;
  constexpr GemmConfig kGemm = kConfig.gemm;
  const auto tiles_m = static_cast<u32>(p.tiles_m), tiles_n = static_cast<u32>(p.tiles_n);
  const u32 tiles = tiles_m * tiles_n * static_cast<u32>(p.groups);
  const u32 items = Shared::kSums ? tiles : tiles * static_cast<u32>(p.splits);
  const u32 members = Shared::kSums ? device::cluster_blocks() : static_cast<u32>(Shared::kBlocks);
  const u32 step = static_cast<u32>(device::grid_size().x) / members;
  int order = 0;
  for (u32 at = static_cast<u32>(device::block_index().x) / members; at < items; at += step, ++order) {
    const u32 part = Shared::kSums ? device::cluster_rank() : at / tiles;
    const u32 tile = Shared::kSums ? at : at - part * tiles;
    const PixelRange pixels = pixel_range(static_cast<i32>(part), p.blocks_per_split, p.pixel_blocks);
    // There are as many parts as blocks in a cluster, some perhaps behind the last pixel.
    body(TensorItem{tile_at<kGemm.raster, kGemm.block_swizzle>(tile, tiles_m, tiles_n), static_cast<i32>(part),
                    pixels.first, pixels.count > 0 ? pixels.count : 0, order, at + step >= items});
  }
}

}  // namespace wt
