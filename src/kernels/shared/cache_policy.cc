// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/cache_policy.h"

#include "problem/gemm_view.h"

namespace wt {
namespace {

// Whether no pixel is read under two taps: unit filters and patches, these in their other view too.
bool taps_lie_apart(const ConvProblem& problem) {
  const Spatial out = problem.out();
  for (size_t i = 0; i < kMaxDims; ++i) {
    if (out[i] > 1 && problem.stride[i] < (problem.filter[i] - 1) * problem.dilation[i] + 1) return false;
  }
  return true;
}

}  // namespace

// Measured on an H200 with cold, dirty L2: 1x1 layers of up to 1.5 times the L2 gain 1 to 15 hundredths, larger ones
// lose 3, and so do those whose output is larger than their image, which every column of tiles reads again; 3x3 lose 2.
CachePolicy image_policy(const ConvProblem& problem, const DeviceInfo& device) {
  return taps_lie_apart(problem) ? walked_policy(problem, device) : kCacheNormal;
}

CachePolicy walked_policy(const ConvProblem& problem, const DeviceInfo& device) {
  const int64_t x = problem.x_elements() * size_of(problem.x), y = problem.y_elements() * size_of(problem.y);
  const int64_t all = x + y + problem.w_elements() * size_of(problem.w);
  if (2 * all > 3 * device.l2_bytes) return kCacheNormal;
  if (problem.direction == Direction::kBackwardWeight) return kCacheStream;
  const bool forward = problem.direction == Direction::kForward;
  return (forward ? x >= y : y >= x) ? kCacheStream : kCacheNormal;
}

// Large filters over a few pixels are most of what a layer reads; 1024 channels over 7x7 gained a hundredth.
CachePolicy filter_policy(const ConvProblem& problem, int64_t row_tiles, const DeviceInfo& device) {
  const int64_t bytes = problem.w_elements() * size_of(problem.w);
  return row_tiles == 1 && 8 * bytes >= device.l2_bytes && 2 * bytes <= 3 * device.l2_bytes ? kCacheStream
                                                                                            : kCacheNormal;
}

}  // namespace wt
