// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/device/arguments.h - the parameter block of the four-wave kernels.
//
// Freestanding: host and device compilers lay this struct out alike.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/device/divider.h"

namespace wt {

// Pixels of the output that meet the same taps: all of them forward, a residue of each stride in backward data
// (problem/gemm_view.h). Arrays are in the order d, h, w.
struct FourWavePhase {
  Divider out_size[3], filter[3];  // pixels and taps along each dimension
  i32 pad[3];                      // places of the gathered image before the first pixel's first tap; may be negative
  i32 first[3];                    // of the output's pixels, the phase's first
  i32 depth;                       // numbers that are summed over
  i32 filter_start;                // bytes of a row of b before the phase's numbers
  u32 pixels, tiles_m, first_tile;
};

template <int kPhases>
struct FourWaveArguments {
  const void* a;  // x, or dy
  const void* b;  // w, a row per column of the product: transposed before for backward data
  void* out;      // y, or dx
  EpilogueArguments epilogue;
  i64 image_bytes;                    // of the gathered tensor
  i64 out_pitch;                      // elements of the output a pixel
  u32 images, image_pixels;           // image_pixels: of the gathered tensor, all images
  i32 columns;                        // channels of the output, of a group
  i32 pixel_bytes[3];                 // of the gathered tensor, a step along each dimension
  i32 group_bytes;                    // of the gathered tensor, the channels of a group
  i32 filter_bytes;                   // of b, a row
  i32 in[3], stride[3], dilation[3];  // of the gathered tensor; a dilation may be negative
  Divider channels;                   // gathered, of a group
  i32 out_vector;              // elements that every pixel and group of the output starts at a multiple of: 8, 4 or 1
  i32 out_in[3], out_step[3];  // the output's size, and between pixels of a phase
  u32 tiles_n, tiles, chiplets;
  u32 phase_count;
  FourWavePhase phases[kPhases];
};

}  // namespace wt
