// SPDX-License-Identifier: Apache-2.0
// kernels/rows/device/arguments.h - the parameter block of rows/kernel.h.
//
// A patch is `patch_rows` rows of the image under `tile_rows` rows of `strip` outputs; in three dimensions so many rows
// of each plane under the filter. Along w positions count elements: channels of neighbouring pixels are neighbours.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/device/divider.h"

namespace wt {

inline constexpr int kRowsMostRuns = 64;  // filter rows of all planes, in three dimensions

struct RowsArguments {
  // In backward data the image is dy, and the output is dx.
  TensorMap source;  // {pairs of elements, rows, planes, images} in boxes of a patch, or of a part of its one row
  const void* x;
  const void* filter;
  void* y;
  i64 columns;  // output channels
  Divider tiles_n;
  u32 patches;
  Divider strips, row_blocks;  // patches of an image, or of an output plane, along w and h
  i32 strip, tile_rows;
  // Outputs of a row whose windows start at elements of the same parity: all of them, or every other one.
  i32 classes;
  Divider class_strip;  // outputs of a strip's row in a class
  i32 spread;           // eight rows of a matrix instruction are outputs 1 << spread apart, which share fewer banks;
                        // of kernels that may_spread
  i32 out[2], in_rows;
  i32 row_elements;  // of the image
  i32 stride_h, pad_h;
  i32 step, pad;      // elements: between the windows of neighbouring outputs, and before the first pixel of a row
  i32 run;            // elements of a filter row
  i32 lead;           // 1 where the first window starts at an odd element
  i32 pitch;          // bytes of a row in shared memory
  Divider row_loads;  // chunks of 16 bytes that a row is made of where it is no bulk copy: one more than it has
  i64 image_elements;
  i32 patch_rows;
  i32 boxes;  // copies in bulk that a patch's row is, where it is one row
  i32 slot_bytes;
  // In three dimensions: planes of an image, outputs' and the image's own, and those under the filter.
  Divider out_planes, plane_rows;  // the second: patch_rows
  i32 in_planes, stride_d, pad_d, filter_planes;
  i32 run_at[kRowsMostRuns];  // bytes from a window's first run to each of its runs, planes after planes
  EpilogueArguments epilogue;
};

}  // namespace wt
