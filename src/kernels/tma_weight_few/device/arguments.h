// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_few/device/arguments.h - the parameter block of weight_few_kernel.h.
//
// Freestanding: host (kernels/tma_weight_few/bind.cc) and device compilers lay this struct out alike.
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

struct TmaWeightFewArguments {
  TensorMap x;      // {channels, w, h, images} in boxes of 64 channels of one tile
  const void* dy;   // rows of `rows` numbers
  float* partials;  // weight_part.h
  void* dw;
  i32 pixel_blocks;      // tiles of pixels of all images
  i32 blocks_per_split;  // of them
  i32 splits;
  i32 sum_slices;      // threads that share the parts of a sum: part_sum.h
  i32 tap_groups;      // tiles along the rows of the filter
  i32 channel_blocks;  // tiles along the input channels
  i32 rows;            // output channels
  i32 channels;        // input channels
  i32 size[2];         // pixels of x
  i32 out[2];          // pixels of dy
  i32 pad[2];          // before the image
  i32 tiles_h, tiles_w;
  i32 vectors;  // of an output pixel
  EpilogueArguments epilogue;
};

}  // namespace wt
