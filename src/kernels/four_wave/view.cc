// SPDX-License-Identifier: Apache-2.0
#include "kernels/four_wave/view.h"

#include <numeric>

#include "base/integers.h"
#include "kernels/beside/transpose_filter.h"

namespace wt {

FourWaveView::FourWaveView(const View& seen) {
  const ConvProblem& p = seen.problem();
  const bool forward = p.direction != Direction::kBackwardData;
  n = p.n;
  g = p.g;
  taps = p.filter_taps();
  channels = forward ? p.c_per_group() : p.k_per_group();
  columns = forward ? p.k_per_group() : p.c_per_group();
  in = forward ? p.in : p.out();
  out = forward ? p.out() : p.in;
  if (forward) {
    stride = p.stride;
    dilation = p.dilation;
    parts.push_back({out, p.filter, p.pad_lower, {}, 0});
    return;
  }
  stride = {1, 1, 1};
  for (size_t i = 0; i < kMaxDims; ++i) dilation[i] = -p.dilation[i] / std::gcd(p.stride[i], p.dilation[i]);
  if (stride_phase_count(p) > kMostParts) return;
  for (const StridePhase& phase : stride_phases(p)) {
    FourWavePart part;
    part.first_tap = phase.has_taps() ? first_tap(p, phase) : 0;
    for (size_t i = 0; i < kMaxDims; ++i) {
      const DimPhase& at = phase.dim[i];
      part.size[i] = at.count;
      part.taps[i] = at.tap_count;
      part.pad[i] = -at.shift_first;
      part.first[i] = at.offset;
    }
    parts.push_back(part);
  }
}

int64_t FourWaveView::tiles_m(const FourWavePart& part, int64_t rows) const {
  return ceil_div(n * part.pixels_of_image(), rows);
}

int64_t FourWaveView::tiles(const KernelConfig& config) const {
  int64_t rows = 0;
  for (const FourWavePart& part : parts) rows += tiles_m(part, config.gemm.tile.m);
  return rows * ceil_div(columns, config.gemm.tile.n) * g;
}

}  // namespace wt
