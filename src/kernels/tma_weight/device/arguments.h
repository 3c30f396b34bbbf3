// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/device/arguments.h - the parameter block of kernel.h.
//
// Freestanding: host (kernels/tma_weight/bind.cc) and device compilers lay this struct out alike.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/tma/device/stream.h"
#include "target/cache_policy.h"

namespace wt {

struct TmaWeightArguments {
  TensorMap dy;      // {channels, pixels}
  TensorMap x;       // im2col, a column of tile.k pixels
  TensorMap out;     // {input channels, taps, output channels}, where bulk stores write the gradient
  i64 pixels;        // n p q
  i32 pixel_blocks;  // of tile.k
  i32 blocks_per_split;
  i32 splits;
  i32 groups;
  i32 rows;            // output channels of a group
  i32 channels;        // input channels of a group
  i32 channel_blocks;  // of 64
  // Channels that a copy of dy and of x brings, fewer than a block where there are no more, and bytes of a stage's
  // copies.
  i32 copied_rows, copied_channels, copied_bytes;
  i32 taps;
  // The walk over the pixels of x that its map has, as in TmaRegion.
  i32 filter[3], dilation[3];
  i32 size[3], start[3], step[3];
  i32 advance[4];  // tile.k pixels as (n, d, h, w) steps of the walk
  i64 tiles_m, tiles_n;
  CachePolicy policy;  // of dy and x
  void* dw;
  float* partials;      // weight_part.h, of merged groups (splits, elements of dw), or the pieces of stream.h
  i32 sum_slices;       // threads that share the parts of a sum: part_sum.h
  i32 copied_blocks;    // of dy, by kernels on tensor memory
  StreamShares stream;  // without pixels, of tiles of one empty k-block
  i64 elements;
  EpilogueArguments epilogue;
};

}  // namespace wt
