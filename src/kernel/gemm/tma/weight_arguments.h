// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/weight_arguments.h - the parameter block of weight_kernel.h.
//
// Freestanding: host (dispatch/bind_tma_weight.cc) and device compilers lay this struct out alike.
#pragma once

#include "kernel/arguments.h"

namespace wt {

struct TmaWeightArguments {
  TensorMap dy;      // {channels, pixels}
  TensorMap x;       // im2col, a column of tile.k pixels
  i64 pixels;        // n p q
  i32 pixel_blocks;  // of tile.k
  i32 blocks_per_split;
  i32 splits;
  i32 groups;
  i32 rows;            // output channels of a group
  i32 channels;        // input channels of a group
  i32 channel_blocks;  // of 64
  i32 taps;
  i32 filter[3], dilation[3];
  i32 size[3], start[3], step[3];  // of the walk over x, as in TmaRegion
  i32 advance[4];                  // tile.k pixels as (n, d, h, w) steps of the walk
  i64 tiles_m, tiles_n;
  void* dw;
  float* partials;  // (splits, elements of dw)
  i64 elements;
  EpilogueArguments epilogue;
};

}  // namespace wt
