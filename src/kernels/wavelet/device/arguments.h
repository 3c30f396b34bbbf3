// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/arguments.h - the parameter block of the kernels whose load warps gather.
//
// Freestanding: host (kernels/wavelet/bind.cc) and device compilers lay these structs out alike.
//
// Lengths along w are in elements, so that a row of the image is one line on which pixels and channels alike are
// distances. A row of GEMM operand A is an output pixel; its k-th number lies at the pixel's place plus that of k.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/device/divider.h"

namespace wt {

// Output pixels along one dimension that meet the same taps: all of them forward, a stride phase backward.
struct WaveletPhase {
  Divider size;  // pixels
  i32 start;     // image position of the first pixel under the first tap
  i32 taps;
  i32 filter;  // elements of the filter before the first tap
  i32 out;     // elements of the output before the first pixel
};

// Numbers that follow each other along k: the channels of a tap, or, where the taps of a filter row touch in memory,
// those of the whole row. `head` numbers before the real ones and some after them only fill vectors; they are zero.
struct WaveletRun {
  i32 length, head, real;
};

// How far the place in the sum moves on by one tile.k, in runs and numbers.
struct WaveletAdvance {
  i32 runs, numbers;
};

// Columns that are stride phases times channels (phase_columns.h). Column (o, c) of lattice point i is pixel
// i * stride + o; dy at i + start + j meets its filter tap o + base - j * stride. Order d, h, w.
struct WaveletColumns {
  Divider stride[3];
  Divider channels;                 // of a group
  i32 base[3], filter[3], size[3];  // of the taps, the filter, dx
  i32 filter_stride[3];             // elements of the filter, a tap
  i32 out_stride[3];                // elements of dx, a pixel
};

template <int kPhases>
struct WaveletArguments {
  WaveletPhase phases[kPhases];  // of d, h and w, one after the other
  i32 first_phase[3];
  Divider phase_count[3];
  // Per dimension d, h, w. Image positions: start + pixel * step + tap * tap_step, inside where below limit.
  i32 step[3], tap_step[3], limit[3];
  i32 image_stride[3];  // elements, of n, d and h
  i32 filter_step[3];   // elements of the filter, a tap
  i32 out_step[4];      // elements of the output, n and a pixel of d, h, w
  WaveletRun run;
  WaveletAdvance advance;
  WaveletColumns phase_columns;  // of kernels that have such columns
  Divider depth;                 // channels of a group that are summed over
  i32 columns;                   // output channels of a group
  i32 filter_pitch;              // elements of one output channel's filter
  i32 images;
  bool row_is_one_run;  // the taps along w lie in the run
  bool keep_filter;     // one tile holds all columns, and its filter fits shared memory: it is loaded once
  i32 filter_slots;     // k-blocks of the filter in shared memory
  i32 out_vector;       // elements that every row and group of the output starts at a multiple of
  u32 tiles;
  Divider tiles_a_group, tiles_n, tiles_a_phase;
  const void* a;
  const void* b;
  void* out;
  EpilogueArguments epilogue;
};

}  // namespace wt
