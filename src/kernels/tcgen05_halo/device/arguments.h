// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/device/arguments.h - the parameter blocks of patches on Blackwell: those of kernels/tma_halo and
// what else these kernels take.
#pragma once

#include "kernels/tma_halo/device/arguments.h"
#include "target/cache_policy.h"

namespace wt {

struct Tcgen05HaloArguments : TmaHaloArguments {
  i32 columns_w;    // columns of the filter's taps that have a stage each
  i32 step[2];      // d, w: pixels from a tap to the next
  i32 copied_rows;  // of a patch
  i32 stage_bytes;  // that the copies of a stage bring, to both blocks of a pair
  CachePolicy policy;
};

struct Tcgen05HaloWeightArguments {
  TensorMap dy;  // {output channels, w, h, d in three dimensions, images} in boxes of a tile's pixels
  TensorMap x;   // the same in boxes of a patch
  i32 groups;
  i32 rows, channels;  // output and input channels of a group
  i32 channel_blocks;
  i32 filter[3];
  i32 step[2];   // d, w: pixels from a tap to the next
  i32 start[3];  // d, h, w: what the first tap of output pixel 0 reads
  i32 size[3];   // d, h, w: output pixels
  i32 tiles_h, tiles_w;
  i32 pixel_blocks, blocks_per_split, splits;  // tiles of pixels
  i32 copied_bytes;                            // that the copies of a stage bring
  i64 tiles_m, tiles_n;
  i64 elements;  // of dw
  float* partials;
  void* dw;
  CachePolicy policy;
  EpilogueArguments epilogue;
};

}  // namespace wt
