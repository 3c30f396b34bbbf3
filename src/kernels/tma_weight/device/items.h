// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/device/items.h - what a block of kernel.h works on: tiles of the gradient, each over some blocks
// of pixels.
#pragma once

#include "kernels/tma/device/schedule.h"
#include "kernels/tma_weight/device/arguments.h"
#include "kernels/tma_weight/device/pixel_range.h"

namespace wt {

struct WeightItem {  // one tile of one split
  TileIndex tile;
  i32 first, count;  // blocks of pixels
  i32 split;         // or the slot of a piece
  int order;         // among the block's items
  bool last;         // of them
};

template <KernelConfig kConfig, class Body>
WT_DEVICE void for_items(const TmaWeightArguments& p, Body&& body) {
  for_work<kConfig>(p, [&](const Work& work) {
    WeightItem item;
    item.split = work.part;
    item.order = work.order;
    item.tile = work.tile;
    item.last = work.last;
    if constexpr (tma_layout::streams(kConfig)) {
      item.first = work.first;
      item.count = p.pixel_blocks > 0 ? work.count : 0;
      return body(item);
    }
    const PixelRange pixels = pixel_range(item.split, p.blocks_per_split, p.pixel_blocks);
    item.first = pixels.first;
    item.count = pixels.count;
    // There are as many parts as blocks in the cluster.
    if (kConfig.gemm.split_k == SplitK::kCluster && item.count < 0) item.count = 0;
    body(item);
  });
}

}  // namespace wt
