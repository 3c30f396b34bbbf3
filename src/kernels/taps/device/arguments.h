// SPDX-License-Identifier: Apache-2.0
// kernels/taps/device/arguments.h - the parameter block of taps/kernel.h.
//
// Forward and backward data are one computation here: source pixel u, tap t -> output v = stride * u + dilation * t -
// shift. Backward data is that by definition; forward, with unit stride, is that with the filter turned round. An
// output's `unit` is (v + shift) / stride, so that source pixel u is the last one which unit u meets. Spatial values in
// the order h, w.
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

inline constexpr int kTapsMaxStride = 4;

struct TapsArguments {
  TensorMap source;  // {channels, w, h, images} in boxes of 64 channels of 64 pixels; planes before images
  const void* filter;
  void* out;
  i32 depth;         // channels that are summed over
  i32 depth_blocks;  // depth / 64, rounded up
  i32 row_blocks;    // the same of all filter planes, which a row's products sum over
  i32 channels;      // of the output
  i32 size[2];       // of the output
  i32 taps[2];
  i32 stride[2], dilation[2], shift[2];
  i32 first_unit[2];
  i32 reach[2];  // units that a source pixel reaches beyond its own
  i32 before;    // source pixels of a strip before its first unit: reach[1], or less where these lie outside the image
  // Along w, of outputs with the same remainder of their stride: the first tap that they meet (-1: none), its source
  // pixel against the unit, and the steps to the next tap and to that one's source pixel.
  i32 tap_first[kTapsMaxStride], tap_source[kTapsMaxStride];
  i32 tap_step, source_step;
  i32 strips, strip_units;      // along w: a block takes a strip,
  i32 segments, segment_units;  // and along h a segment of it
  i32 window;                   // output rows in the making
  i32 units[2];                 // of the output
  // The filter in memory: its first tap and the steps to the next, to the next channel that is summed over, and to the
  // next output channel.
  i64 filter_first, filter_tap[2], filter_depth, filter_channel;
  i64 out_stride[3];  // n, h, w; in three dimensions an output plane has an image's place
  // In three dimensions output plane v meets source plane v + shift_d - dilation_d * tap.
  i32 out_planes, dilation_d, shift_d;
  i64 filter_plane;  // elements, to the next tap along d
  i32 jobs;          // strips of all images and segments; a block takes every grid-th
  EpilogueArguments epilogue;
};

}  // namespace wt
