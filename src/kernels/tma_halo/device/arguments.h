// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/device/arguments.h - the parameter block of kernel.h.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/tma/device/warm_arguments.h"

namespace wt {

struct TmaHaloArguments {
  TensorMap a;       // {channels, w, h, d in three dimensions, images} in boxes of one patch
  TensorMap b;       // {channels of a group, taps, output channels}
  TensorMap b_tail;  // the columns left over, of a filter that is read across
  // The output, as the image lies, in boxes of 8x8 pixels: of 64 columns, and of the columns left over.
  TensorMap out, out_tail;
  i32 groups;
  i32 depth;         // channels that are summed over, of a group
  i32 depth_blocks;  // depth / box, rounded up
  i32 box_channels;  // of a copy
  i32 columns;       // output channels of a group
  i32 patch_bytes;   // that a copy of a patch brings, and those of a tap's filter
  i32 filter_bytes;
  i32 planes;    // taps along d, each with a patch of its own
  i32 start[3];  // d, h, w: image coordinate that the first tap of output pixel 0 reads
  i32 size[3];   // d, h, w: output pixels
  i32 images;
  i32 stacked;         // images of a tile; 1: its fragments lie below each other
  i32 fragment_bytes;  // of a patch, from one fragment to the next
  i32 splits;          // parts of every tile's sum
  i32 filter;          // the filter's tap that meets the patch's first pixel, and the step to the next one
  i32 filter_step;
  i32 tiles_h, tiles_w;  // of one image
  i64 tiles_m, tiles_n;
  i64 out_stride[4];  // n, d, h, w
  i64 part_elements;  // of the output, which parts in the workspace lie apart
  void* y;            // or the workspace
  WarmArguments warm;
  EpilogueArguments epilogue;
  // Of kernels for strides of two: pixels of dx, and 1 where the padding is odd.
  i32 image_size[2], odd_padding[2];  // h, w
};

}  // namespace wt
