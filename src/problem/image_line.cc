// SPDX-License-Identifier: Apache-2.0
#include "problem/image_line.h"

#include <algorithm>

#include "base/integers.h"

namespace wt {

ImageLine image_line(const ConvProblem& problem, int dim) {
  const auto i = static_cast<size_t>(dim);
  const int64_t stride = problem.stride[i], dilation = problem.dilation[i], in = problem.in[i];
  const int64_t start = floor_div(-problem.pad_lower[i], stride), first = -problem.pad_lower[i] - start * stride;
  if (first >= in || (problem.filter[i] > 1 && dilation % stride != 0))
    return {0, 1, in, -problem.pad_lower[i], stride, dilation};
  return {first, stride, ceil_div(in - first, stride), start, 1, std::max<int64_t>(1, dilation / stride)};
}

}  // namespace wt
