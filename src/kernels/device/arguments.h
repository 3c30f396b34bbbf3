// SPDX-License-Identifier: Apache-2.0
// kernels/device/arguments.h - what every launch tells its kernel about the problem; the host fills it
// (kernels/shared/conv_arguments.h).
//
// Freestanding: host and device compilers lay these structs out alike.
#pragma once

#include "problem/user_types.h"
#include "target/types.h"

namespace wt {

// Sizes of one group. Spatial values in the order d, h, w.
struct ConvShape {
  i64 n;
  i32 groups;
  i32 c, k;  // per group
  i32 in[3], out[3], filter[3];
  i32 stride[3], dilation[3], pad[3];  // pad: lower
};

// Distances in elements. x and y: image, group, channel, pixel. w: `n` steps over output channels of a group.
struct TensorStrides {
  i64 n, g, channel;
  i64 spatial[3];
};

// What sums of int8 are corrected by: x's zero point times the sum of the filter over the taps inside the image, for
// each class of pixels with the same taps. Of each dimension: classes of pixels before `low`, which the padding below
// reaches, one of those from there to `high`, and those behind.
struct Correction {
  const i32* table;  // (classes of d, of h, of w, output channels)
  i32 low[3], high[3];
};

// Of an output that is so many pixels long.
constexpr i32 correction_classes(const Correction& correction, int dimension, i32 size) {
  const i32 behind = size - 1 - correction.high[dimension];
  return correction.low[dimension] + 1 + (behind > 0 ? behind : 0);
}

constexpr i32 correction_class(const Correction& correction, int dimension, i32 pixel) {
  const i32 low = correction.low[dimension], behind = pixel - correction.high[dimension];
  return (pixel < low ? pixel : low) + (behind > 0 ? behind : 0);
}

// See problem/problem.h for the order of the steps. Absent tensors are null.
struct EpilogueArguments {
  float alpha, beta, slope, low, high;
  i32 y_zero;  // of an int8 output
  const void* scale;
  const void* bias;
  const void* residual;
  u32* amax;  // bits of a non-negative float, so that an integer maximum is the float's
  void* out;  // read by the user's store alone
  void* aux[user::kMaxInputs];
  float betas[user::kMaxInputs];  // of the added ones
  union {
    float scalars[user::kMaxNumbers];  // of the user's text
    Correction correction;             // where x of int8 has a zero point, which no text goes with
  };
  user::OutputShape shape;  // read by the user's text, and where x of int8 has a zero point
};
// WHY: what stands behind it in a parameter block would move, and tuned kernels' machine code be another one.
static_assert(sizeof(Correction) == sizeof(float) * user::kMaxNumbers);

}  // namespace wt
