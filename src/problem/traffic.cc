// SPDX-License-Identifier: Apache-2.0
#include "problem/traffic.h"

#include <algorithm>

namespace wt {

namespace {

double bytes(int64_t elements, DataType type) { return static_cast<double>(bytes_of(type, elements)); }

}  // namespace

double epilogue_bytes(const ConvProblem& problem) {
  const int tensors = problem.epilogue.residual + problem.epilogue.auxiliaries();
  return tensors * bytes(problem.output_elements(), problem.output_type());
}

double work_without_padding(const ConvProblem& problem) {
  double pairs = 1;  // of an output pixel and a tap inside the image
  const Spatial out = problem.out();
  for (int d = 0; d < kMaxDims; ++d) {
    int64_t inside = 0;
    for (int64_t tap = 0; tap < problem.filter[d]; ++tap) {
      // Output pixels o with 0 <= o * stride + offset < in.
      const int64_t offset = tap * problem.dilation[d] - problem.pad_lower[d];
      const int64_t first = offset >= 0 ? 0 : (-offset + problem.stride[d] - 1) / problem.stride[d];
      const int64_t last = problem.in[d] - 1 - offset >= 0 ? (problem.in[d] - 1 - offset) / problem.stride[d] : -1;
      inside += std::max<int64_t>(0, std::min(last, out[d] - 1) - first + 1);
    }
    pairs *= static_cast<double>(inside);
  }
  return 2 * pairs * static_cast<double>(problem.n) * static_cast<double>(problem.k) *
         static_cast<double>(problem.c_per_group());
}

double tensor_bytes(const ConvProblem& problem) {
  return bytes(problem.x_elements(), problem.x) + bytes(problem.w_elements(), problem.w) +
         bytes(problem.y_elements(), problem.y) + static_cast<double>(problem.x_scales() + problem.w_scales()) +
         epilogue_bytes(problem);
}

}  // namespace wt
