// SPDX-License-Identifier: Apache-2.0
// problem/image_line.h - how the taps of a strided convolution walk over the pixels of x, along one dimension.
//
// Output pixel p and tap r meet at p * stride + r * dilation - pad: pixels that one tap reads lie a stride apart. Where
// all taps read pixels that lie whole strides apart, these are an image of their own, in which a tap reads neighbours.
#pragma once

#include "problem/problem.h"

namespace wt {

// Over `count` pixels that lie at first, first + apart, ...: output pixel p and tap r meet at start + p * step +
// r * tap_step among them.
struct ImageLine {
  int64_t first, apart, count;
  int64_t start, step, tap_step;

  bool operator==(const ImageLine&) const = default;
};

// With a unit step where all taps read pixels of one such image; of the whole image where they read several, or none
// that has pixels.
ImageLine image_line(const ConvProblem& problem, int dim);

}  // namespace wt
