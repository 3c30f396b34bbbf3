// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/device/arguments.h - a launch of kind depthwise_taps as the host sees it.
//
// A column of the matrices is a row of the filter and a run of 16 of its taps (8 where a row has no more): columns
// count rows first, then planes, then runs. Lines are rows of an image, `residues` apart. Freestanding: host and device
// compilers lay these structs out alike.
#pragma once

#include "kernels/device/direct/arguments.h"

namespace wt {

// Where things lie in a block's shared memory, in bytes.
struct TapsShared {
  u32 buffers;  // behind a line of zeros; the gradient takes their place at the end
  u32 tile_bytes, out_lines;  // of a buffer; in it, the first line of dy
  u32 line_bytes, out_line_bytes;
};

struct DepthwiseTapsArguments {
  DirectImage from, to;  // x and dy
  const void* first;
  const void* second;
  void* out;  // fp32 partial sums of dw
  i32 images, channels;
  i32 filter[3], stride[3], dilation[3], pad[3];
  i32 columns;    // of all matrices
  i32 run_shift;  // pixels of dy between the windows of one run of taps and the next
  i32 margin;     // pixels of zeros before a line of dy, for the last run

  // A tile: some lines of some images' planes, or of a plane a part of one image, and the lines of dy that they meet.
  i32 residues;
  i32 tile_images, lines, out_lines;  // of one image; of dy: of one image and plane of the filter
  i32 tile_columns;                   // of dy
  i32 image_tiles, line_tiles, column_tiles, tiles;
  i32 line_pixels, out_pixels;  // of a line in shared memory
  i32 steps, chunk, chunks;     // of 16 pixels of dy: of a line, of a warp's piece of one; such pieces
  i32 warp_groups, slices;      // warps that have other columns of the matrices, and other pieces
  i32 channel_blocks, workers;
  TapsShared shared;
};

}  // namespace wt
