// SPDX-License-Identifier: Apache-2.0
// problem/gemm_view.h - the matrix product that each direction is, from convolution letters to m, n and k.
//
//              forward      backward data           backward weight
//   m          n p q        n h w (of a phase)      k
//   n          k            c                       r s c
//   k          r s c        r s k (of a phase)      n p q
//   a          x, gathered  dy, gathered            dy
//   b          w            w                       x, gathered
//
// Channels are those of one group; `batch` is the number of groups.
#pragma once

#include <vector>

#include "problem/problem.h"

namespace wt {

struct GemmView {
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;

  bool operator==(const GemmView&) const = default;
};

// For backward data this is the whole, as if every tap met every pixel; its phases are what is computed.
GemmView gemm_view(const ConvProblem& problem);

// Backward data with a stride splits the pixels of dx into lattices that meet the same taps. In one dimension:
//   pixels  h = offset + i * step                       i in [0, count)
//   taps    r = tap_first + j * tap_step                j in [0, tap_count)
//   reads   p = i + shift_first + j * shift_step        of dy, zero where p is outside [0, out)
// step is the stride, tap_step is stride / gcd(stride, dilation) and shift_step is -dilation / gcd. A phase without
// taps gets no sum: its pixels hold the epilogue of zero.
struct DimPhase {
  int64_t offset = 0;
  int64_t step = 1;
  int64_t count = 0;
  int64_t tap_first = 0;
  int64_t tap_step = 1;
  int64_t tap_count = 0;
  int64_t shift_first = 0;
  int64_t shift_step = -1;

  bool operator==(const DimPhase&) const = default;
};

// The phases of one dimension (0: d, 1: h, 2: w) that hold at least one pixel, those without taps included.
std::vector<DimPhase> dim_phases(const ConvProblem& problem, int dim);

// A phase of the whole problem: one phase of each dimension, and its matrix product.
struct StridePhase {
  std::array<DimPhase, kMaxDims> dim;  // d, h, w
  GemmView gemm;                       // k is 0 where the phase has no taps

  bool has_taps() const { return gemm.k > 0; }
};

// Every phase, w fastest. Their pixels partition dx. Backward data only.
std::vector<StridePhase> stride_phases(const ConvProblem& problem);
int64_t stride_phase_count(const ConvProblem& problem);  // without making them

}  // namespace wt
