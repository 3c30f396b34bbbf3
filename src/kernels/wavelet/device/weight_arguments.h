// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/weight_arguments.h - the parameter block of weight_kernel.h.
//
// Freestanding: host (kernels/wavelet/bind_weight.cc) and device compilers lay this struct out alike.
#pragma once

#include "kernels/wavelet/device/arguments.h"

namespace wt {

// For groups that are multiplied together (groups_per_tile): a row and a column of the product are of the same group
// where its output channels and its input channels have the same place among those merged.
struct WaveletDiagonal {
  Divider filters;   // output channels of one group
  Divider channels;  // input channels of all merged groups, which is a tap's run of columns
  i32 own_channels;  // input channels of one group
  i32 own_pitch;     // elements of one output channel's filter in dw
};

// One tensor is gathered under the taps, the other is plain: x and dy, or with unit stride dy and x, whichever moves
// fewer bytes. GEMM rows are the gathered tensor's numbers (tap, channel), columns the plain one's channels.
struct WaveletWeightArguments {
  WaveletArguments<3> walk;  // over the gathered tensor, a; the plain one is b. Pixels are the rows of the walk.
  i32 numbers;               // GEMM rows, of whole runs
  Divider run;               // numbers of a run
  Divider taps_w, taps_h;    // runs along a dimension
  i32 plain_pitch;           // channels of the plain tensor, all groups
  i32 filter;                // elements of dw before the first tap
  i32 channel_step;          // elements of dw between the gathered tensor's channels
  i32 column_step;           // and the plain one's
  i32 group_step;            // and groups
  i32 outputs;               // output channels of a group
  bool gathers_outputs;      // the gathered tensor is dy
  i32 pixels, pixel_blocks, blocks_per_split;
  u32 items;
  Divider tiles;  // of one split
  Divider tiles_n, tiles_a_group;
  float* partials;  // (splits, elements of dw)
  i64 elements;
  WaveletDiagonal diagonal;
};

}  // namespace wt
