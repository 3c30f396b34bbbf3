// SPDX-License-Identifier: Apache-2.0
#include "cli/input/crop.h"

#include <algorithm>
#include <numeric>

#include "problem/gemm_view.h"

namespace wt::cli {

namespace {

constexpr int64_t kRow = 8;  // pixels

struct Limits {
  int64_t images = 2;
  Spatial out = {3, 9, 9};       // output pixels
  int64_t channels = 64;         // of a group; the remainder modulo this is added
  int64_t group_channels = 128;  // of all groups together
};

int64_t crop_channels(int64_t channels, int64_t limit) {
  return channels < 2 * limit ? channels : limit + channels % limit;
}

// Groups that together have about `limit` channels, at least two, with the remainder modulo 8 kept where it fits.
int64_t crop_groups(int64_t groups, int64_t widest, int64_t limit) {
  const int64_t wanted = std::max<int64_t>(2, limit / std::max<int64_t>(widest, 1));
  if (groups <= wanted) return groups;
  return wanted > 8 ? wanted - wanted % 8 + groups % 8 : wanted;
}

ConvProblem crop_to(const ConvProblem& problem, const Limits& limits) {
  ConvProblem small = problem;
  small.n = std::min(problem.n, limits.images);
  const int64_t c = crop_channels(problem.c_per_group(), limits.channels);
  const int64_t k = crop_channels(problem.k_per_group(), limits.channels);
  small.g = problem.g == 1 ? 1 : std::min(problem.g, crop_groups(problem.g, std::max(c, k), limits.group_channels));
  small.c = small.g * c;
  small.k = small.g * k;
  const Spatial out = problem.out();
  for (size_t axis = 0; axis < kMaxDims; ++axis) {
    // Whole strides are taken off, so the remainder that the last window leaves stays the same.
    const int64_t stride = problem.stride[axis];
    const int64_t removable = std::max<int64_t>(0, (problem.in[axis] - 1) / stride);
    int64_t removed = std::min(removable, out[axis] - std::min(out[axis], limits.out[axis]));
    // Kernels for few channels ask whether image rows are whole 16 bytes, so that rows keep their remainder too.
    const bool few = problem.c < kRow || (problem.direction == Direction::kBackwardData && problem.k < kRow);
    if (axis + 1 == kMaxDims && few) removed -= removed % (kRow / std::gcd(kRow, stride));
    small.in[axis] = problem.in[axis] - stride * removed;
  }
  return small;
}

// Multiply-adds of a kernel that computes whole tiles, a group at a time. WHY not the problem's own: a depthwise layer
// has few of those, but fills hardly anything of each tile.
double padded_work(const ConvProblem& problem) {
  constexpr int64_t kTile = 64;
  const auto padded = [](int64_t size) { return static_cast<double>((size + kTile - 1) / kTile * kTile); };
  const auto work = [&](const GemmView& view) {
    return static_cast<double>(view.batch) * padded(view.m) * padded(view.n) * static_cast<double>(view.k);
  };
  if (problem.direction != Direction::kBackwardData) return work(gemm_view(problem));
  double total = 0;
  for (const StridePhase& phase : stride_phases(problem)) total += work(phase.gemm);
  return total;
}

// One step smaller, in the order in which a kernel's edges suffer least; false at the end.
bool tighten(Limits& limits, int dims) {
  size_t widest = kMaxDims - 1;
  for (size_t axis = static_cast<size_t>(kMaxDims - dims); axis < kMaxDims; ++axis)
    if (limits.out[axis] > limits.out[widest]) widest = axis;
  if (limits.images > 1) {
    limits.images = 1;
  } else if (limits.out[widest] > 5) {
    limits.out[widest] -= 2;
  } else if (limits.channels > 16) {
    limits.channels /= 2;
    limits.group_channels /= 2;
  } else if (limits.out[widest] > 1) {
    limits.out[widest] -= 1;
  } else if (limits.channels > 8) {
    limits.channels /= 2;
    limits.group_channels /= 2;
  } else {
    return false;
  }
  return true;
}

}  // namespace

ConvProblem crop(const ConvProblem& problem, double multiply_adds) {
  if (padded_work(problem) <= multiply_adds) return problem;
  Limits limits;
  if (problem.dims == 1) limits.out = {1, 1, 40};
  ConvProblem small = crop_to(problem, limits);
  while (padded_work(small) > multiply_adds && tighten(limits, problem.dims)) small = crop_to(problem, limits);
  return small;
}

}  // namespace wt::cli
