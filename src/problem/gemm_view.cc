// SPDX-License-Identifier: Apache-2.0
#include "problem/gemm_view.h"

#include <algorithm>
#include <numeric>

#include "base/check.h"

namespace wt {
namespace {

int64_t product(const Spatial& sizes) { return sizes[0] * sizes[1] * sizes[2]; }

// The least r >= 0 with r * factor = residue (mod modulus), where factor and modulus have no common divisor.
int64_t solve_residue(int64_t factor, int64_t residue, int64_t modulus) {
  // Extended Euclid: `inverse` * factor = 1 (mod modulus).
  int64_t inverse = 0, next = 1, a = modulus, b = factor % modulus;
  while (b != 0) {
    const int64_t q = a / b;
    inverse = std::exchange(next, inverse - q * next);
    a = std::exchange(b, a - q * b);
  }
  if (inverse < 0) inverse += modulus;
  // WHY: the product of two values below 2^62 leaves 64 bits.
  __extension__ using Wide = __int128;
  return static_cast<int64_t>(static_cast<Wide>(residue % modulus) * inverse % modulus);
}

}  // namespace

GemmView gemm_view(const ConvProblem& problem) {
  const int64_t taps = product(problem.filter);
  const int64_t pixels = problem.n * product(problem.out());
  switch (problem.direction) {
    case Direction::kForward:
      return {problem.g, pixels, problem.k_per_group(), taps * problem.c_per_group()};
    case Direction::kBackwardData:
      return {problem.g, problem.n * product(problem.in), problem.c_per_group(), taps * problem.k_per_group()};
    case Direction::kBackwardWeight:
      return {problem.g, problem.k_per_group(), taps * problem.c_per_group(), pixels};
  }
  return {};
}

std::vector<DimPhase> dim_phases(const ConvProblem& problem, int dim) {
  WT_CHECK(dim >= 0 && dim < kMaxDims, "dim={}", dim);
  const int64_t stride = problem.stride[dim], dilation = problem.dilation[dim], pad = problem.pad_lower[dim];
  const int64_t common = std::gcd(stride, dilation);
  std::vector<DimPhase> phases;
  for (int64_t offset = 0; offset < std::min(stride, problem.in[dim]); ++offset) {
    DimPhase phase;
    phase.offset = offset;
    phase.step = stride;
    phase.count = (problem.in[dim] - offset + stride - 1) / stride;
    phase.tap_step = stride / common;
    phase.shift_step = -(dilation / common);
    // Pixel h meets tap r where h + pad - r * dilation is a multiple of the stride.
    const int64_t residue = (offset + pad) % stride;
    if (residue % common == 0) {
      phase.tap_first = solve_residue(dilation / common, residue / common, phase.tap_step);
      if (phase.tap_first < problem.filter[dim]) {
        phase.tap_count = (problem.filter[dim] - phase.tap_first + phase.tap_step - 1) / phase.tap_step;
        phase.shift_first = (offset + pad - phase.tap_first * dilation) / stride;
      }
    }
    if (phase.tap_count == 0) phase.tap_first = 0;
    phases.push_back(phase);
  }
  return phases;
}

int64_t stride_phase_count(const ConvProblem& problem) {
  int64_t count = 1;
  for (size_t i = 0; i < kMaxDims; ++i) count *= std::min(problem.stride[i], problem.in[i]);
  return count;
}

std::vector<StridePhase> stride_phases(const ConvProblem& problem) {
  WT_CHECK(problem.direction == Direction::kBackwardData, "phases belong to backward data, not {}",
           name_of(problem.direction));
  const std::vector<DimPhase> d = dim_phases(problem, 0), h = dim_phases(problem, 1), w = dim_phases(problem, 2);
  std::vector<StridePhase> phases;
  phases.reserve(d.size() * h.size() * w.size());
  for (const DimPhase& pd : d) {
    for (const DimPhase& ph : h) {
      for (const DimPhase& pw : w) {
        const int64_t taps = pd.tap_count * ph.tap_count * pw.tap_count;
        phases.push_back({{pd, ph, pw},
                          {problem.g, problem.n * pd.count * ph.count * pw.count, problem.c_per_group(),
                           taps * problem.k_per_group()}});
      }
    }
  }
  return phases;
}

}  // namespace wt
