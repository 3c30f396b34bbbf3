// SPDX-License-Identifier: Apache-2.0
// problem/image_phases.h - the pixels of x that the taps of a strided convolution read, in phases of the stride.
//
// Output pixel p and tap r meet at p * stride + r * dilation - pad: pixels that one tap reads lie a stride apart, and
// those that lie a whole number of strides apart are a phase, an image of its own in which one tap reads neighbours.
// Forward and weight gradients; gemm_view.h has the phases of backward data, which are the same pixels.
#pragma once

#include <array>
#include <vector>

#include "problem/gemm_view.h"
#include "problem/problem.h"

namespace wt {

// How taps walk along one dimension, over `count` pixels that lie at first, first + apart, ...: output pixel p and tap
// r meet at start + p * step + r * tap_step among them.
struct ImageLine {
  int64_t first, apart, count;
  int64_t start, step, tap_step;

  bool operator==(const ImageLine&) const = default;
};

// Of the one phase that all taps read, with a unit step; of the whole image where they read several, or none that has
// pixels.
ImageLine image_line(const ConvProblem& problem, int dim);

// One phase of each dimension, with taps. Its pixel i and the tap r = tap_first + j * tap_step meet under output pixel
// p = i + shift_first + j * shift_step, so that tap j starts at i = -shift_first - j * shift_step.
using ImagePhase = std::array<DimPhase, kMaxDims>;  // d, h, w

// Those with pixels that some tap reads, w fastest.
std::vector<ImagePhase> image_phases(const ConvProblem& problem);
// No fewer than that, without making them: phases outside a small image count too.
int64_t image_phase_bound(const ConvProblem& problem);

// Where output pixel 0 meets tap 0, in the phase that it reads: no tap of any phase starts before.
int64_t image_phase_start(const ConvProblem& problem, int dim);

}  // namespace wt
