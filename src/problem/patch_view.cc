// SPDX-License-Identifier: Apache-2.0
#include "problem/patch_view.h"

#include <numeric>

#include "base/integers.h"

namespace wt {
namespace {

bool fits_epilogue(const ConvProblem& p) {
  const Epilogue& e = p.epilogue;
  if (e.has_text()) return false;
  if (p.direction != Direction::kBackwardData) return true;
  return !e.scale && !e.bias && !e.residual && e.auxiliaries() == 0;
}

}  // namespace

bool is_patch(const ConvProblem& p) {
  if (p.dims > 2 || p.g != 1 || p.layout != Layout::kChannelsLast || p.history || p.filter[2] == 1) return false;
  for (size_t i = 1; i < kMaxDims; ++i) {
    if (p.stride[i] != p.filter[i] || p.dilation[i] != 1 || p.pad_lower[i] != 0 || p.pad_upper[i] != 0 ||
        p.in[i] % p.filter[i] != 0)
      return false;
  }
  return fits_epilogue(p);
}

ConvProblem patch_view(const ConvProblem& problem, bool packed) {
  ConvProblem p = problem;
  const int64_t rows = p.in[1] / p.filter[1];
  p.c *= p.filter[2];
  p.in[2] /= p.filter[2];
  p.filter[2] = p.stride[2] = p.stride[1] = 1;
  if (packed || p.direction == Direction::kBackwardData) {
    p.c *= p.filter[1];
    p.in[1] = rows;
    p.filter[1] = 1;
  } else {
    p.n *= rows;
    p.in[1] = p.filter[1];
  }
  return p;
}

PatchRuns patch_runs(const ConvProblem& p) {
  const int64_t length = p.filter[2] * p.c;
  return {length, p.in[2] * p.c - length};
}

RawPatches raw_patches(const ConvProblem& view) {
  constexpr int64_t kChunk = 8;  // 16 bytes
  const int64_t step = std::gcd(view.c, kChunk);
  return {step, kChunk / step, ceil_div(view.c + kChunk - step, kChunk) * kChunk};
}

}  // namespace wt
