// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/rows/arguments.h - the parameter block of rows/kernel.h.
//
// A patch is `patch_rows` rows of the image under `tile_rows` rows of `strip` outputs. Along w positions count
// elements: channels of neighbouring pixels are neighbours.
#pragma once

#include "kernel/arguments.h"
#include "kernel/gemm/wavelet/divider.h"

namespace wt {

struct RowsArguments {
  // Of backward data the image is dy, and the output is dx.
  TensorMap source;  // {pairs of elements, rows, images} in boxes of a patch
  const void* x;
  const void* filter;
  void* y;
  i64 columns;  // output channels
  Divider tiles_n;
  u32 patches;
  Divider strips, row_blocks;  // patches of an image, along w and h
  i32 strip, tile_rows;
  // Outputs of a row whose windows start at elements of the same parity: all of them, or every other one.
  i32 classes;
  Divider class_strip;  // outputs of a strip's row in a class
  i32 spread;           // eight rows of a matrix instruction are outputs 1 << spread apart, which share fewer banks;
                        // of kernels that may_spread
  i32 out[2], in_rows;
  i32 row_elements;  // of the image
  i32 stride_h, pad_h;
  i32 step, pad;  // elements: between the windows of neighbouring outputs, and before the first pixel of a row
  i32 run;        // elements of a filter row
  i32 lead;       // 1 where the first window starts at an odd element
  i32 pitch;      // bytes of a row in shared memory
  i32 patch_rows;
  i32 slot_bytes;
  EpilogueArguments epilogue;
};

}  // namespace wt
