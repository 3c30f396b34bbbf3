// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave_weight/device/arguments.h - the parameter block of the four-wave weight gradient.
//
// Freestanding: host and device compilers lay this struct out alike.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/device/divider.h"

namespace wt {

// Arrays are in the order d, h, w.
struct FourWaveWeightArguments {
  const void* dy;
  const void* x;
  void* dw;
  float* partials;  // (splits, elements of dw)
  EpilogueArguments epilogue;
  i64 elements;            // of dw
  i64 image_bytes;         // of x
  i32 images, pixels;      // pixels: of dy, all images
  i32 outputs, numbers;    // of a group: output channels, and numbers of one's filter
  i32 dy_pitch, dy_group;  // bytes of a pixel, and of the channels of a group
  i32 x_group;             // of x
  i32 pixel_bytes[3];      // of x, a step along each dimension
  i32 in[3], stride[3], dilation[3], pad[3];
  i32 advance[3], advance_images;  // tile.k pixels of dy, as places of x (strides counted) and images
  i32 advance_bytes;               // the same in x
  Divider out_size[3], filter[3];
  Divider channels;  // of a group of x
  i32 out_vector;    // elements that every row of dw starts at a multiple of: 8, 4 or 1
  i32 pixel_blocks, blocks_per_split;
  u32 tiles_m, tiles_n, items, chiplets;
  Divider tiles;  // of one split
};

}  // namespace wt
