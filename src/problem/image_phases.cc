// SPDX-License-Identifier: Apache-2.0
#include "problem/image_phases.h"

#include <algorithm>
#include <numeric>

#include "base/integers.h"

namespace wt {

int64_t image_phase_start(const ConvProblem& problem, int dim) {
  const auto i = static_cast<size_t>(dim);
  return floor_div(-problem.pad_lower[i], problem.stride[i]);
}

ImageLine image_line(const ConvProblem& problem, int dim) {
  const auto i = static_cast<size_t>(dim);
  const int64_t stride = problem.stride[i], dilation = problem.dilation[i], in = problem.in[i];
  const int64_t start = image_phase_start(problem, dim), first = -problem.pad_lower[i] - start * stride;
  if (first >= in || (problem.filter[i] > 1 && dilation % stride != 0))
    return {0, 1, in, -problem.pad_lower[i], stride, dilation};
  return {first, stride, ceil_div(in - first, stride), start, 1, std::max<int64_t>(1, dilation / stride)};
}

std::vector<ImagePhase> image_phases(const ConvProblem& problem) {
  std::array<std::vector<DimPhase>, kMaxDims> dims;
  for (int i = 0; i < kMaxDims; ++i) {
    for (const DimPhase& phase : dim_phases(problem, i))
      if (phase.tap_count > 0) dims[static_cast<size_t>(i)].push_back(phase);
  }
  std::vector<ImagePhase> phases;
  for (const DimPhase& d : dims[0])
    for (const DimPhase& h : dims[1])
      for (const DimPhase& w : dims[2]) phases.push_back({d, h, w});
  return phases;
}

int64_t image_phase_bound(const ConvProblem& problem) {
  int64_t count = 1;
  for (size_t i = 0; i < kMaxDims; ++i)
    count *= std::min(problem.filter[i], problem.stride[i] / std::gcd(problem.stride[i], problem.dilation[i]));
  return count;
}

}  // namespace wt
