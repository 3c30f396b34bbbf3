// SPDX-License-Identifier: Apache-2.0
// kernels/stacked/device/arguments.h - the parameter block of stacked.h.
#pragma once

#include "kernels/device/arguments.h"
#include "target/cache_policy.h"

namespace wt {

// Strips are the columns of `images` images side by side, or a tile of one image's columns; a strip's rows go in
// segments, one a consumer.
struct StackedArguments {
  TensorMap from;    // {channels, w, images, h}: 64 channels of a strip's row, every stride-th column
  TensorMap filter;  // {channels of a group, taps, output channels}: one tap of a group
  TensorMap to;      // as `from`
  i32 channels;      // of all groups
  i32 slices;        // of a block's channels
  i32 row_bytes;     // that the copies of an input row bring
  i32 start[2];      // h, w: the pixel that the first tap of output pixel 0 reads
  i32 size[2];       // h, w: output pixels
  i32 in_rows;
  i32 images, all_images;
  i32 columns;  // output pixels of an image in a strip
  i32 pitch;    // positions from one image to the next
  i32 column_tiles;
  i32 segments, segment_rows;  // of a strip
  i32 items;                   // segments of all strips
  i32 first_tap, tap_step;     // of the filter: taps from the first on, or backwards from the last
  i64 out_stride[3];           // n, h, w
  CachePolicy policy;          // of `from`
  EpilogueArguments epilogue;
};

}  // namespace wt
