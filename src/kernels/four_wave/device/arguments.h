// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/device/arguments.h - the parameter block of the four-wave kernels.
//
// Freestanding: host and device compilers lay this struct out alike.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/device/divider.h"

namespace wt {

// Arrays are in the order d, h, w.
struct FourWaveArguments {
  const void* a;  // x
  const void* b;  // w
  void* out;      // y
  EpilogueArguments epilogue;
  i64 image_bytes;     // of x
  i64 out_pitch;       // elements of y a pixel
  u32 images, pixels;  // pixels: of y, all images
  i32 columns, depth;  // of a group: output channels, and numbers that are summed over
  i32 pixel_bytes[3];  // of x, a step along each dimension
  i32 group_bytes;     // of x, the channels of a group
  i32 filter_bytes;    // of w, the numbers of one output channel
  i32 in[3], stride[3], dilation[3], pad[3];
  Divider out_size[3], filter[3];
  Divider channels;  // of a group, input
  i32 out_vector;    // elements that every pixel and group of the output starts at a multiple of: 8, 4 or 1
  u32 tiles_m, tiles_n, tiles;
  u32 chiplets;
};

}  // namespace wt
