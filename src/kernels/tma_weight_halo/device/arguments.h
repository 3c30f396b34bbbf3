// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_halo/device/arguments.h - the parameter block of kernel.h.
//
// Freestanding: host (kernels/tma_weight_halo/bind.cc) and device compilers lay this struct out alike.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/tma_weight_halo/device/layout.h"
#include "target/cache_policy.h"

namespace wt {

struct TmaWeightHaloArguments {
  TensorMap dy;          // {channels, w, h, d in three dimensions, images} in boxes of one tile
  TensorMap x;           // the same in boxes of one patch
  i32 pixel_blocks;      // tiles of pixels of all images
  i32 blocks_per_split;  // of them
  i32 splits;
  i32 groups;
  i32 rows;            // output channels of a group
  i32 channels;        // input channels of a group
  i32 channel_blocks;  // of a patch
  i32 copied_bytes;    // of a stage's copies
  i32 filter[3];
  i32 down;            // the taps of an instruction lie below each other
  i32 tap_bytes;       // from one of them to the next in a patch
  i32 tap_step[3];     // taps of a tile along d, h and w
  i32 tap_groups[3];   // tiles of taps along d, h and w
  i32 size[3];         // output pixels
  i32 start[3];        // image coordinate that the first tap of output pixel 0 reads
  i32 tile_h, tile_w;  // output pixels of a tile
  i32 tiles_h, tiles_w;
  // Pixels of a slot that copies fill, where products read more: zeros of dy, and of x what is a number.
  i32 filled_dy, filled_x;
  i32 clears;                           // whether they do
  i32 row_bytes;                        // of a patch
  i32 octet_bytes;                      // of a patch from 8 pixels of a step to the other 8
  i32 step_at[weight_halo::kMaxSteps];  // the steps' first pixels in a patch, in units of 16 bytes
  i64 tiles_m, tiles_n;
  CachePolicy policy;  // of dy and x
  void* dw;
  float* partials;  // weight_part.h
  i32 sum_slices;   // threads that share the parts of a sum: part_sum.h
  i64 elements;
  EpilogueArguments epilogue;
};

}  // namespace wt
