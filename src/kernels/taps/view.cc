// SPDX-License-Identifier: Apache-2.0
#include "kernels/taps/view.h"

#include <algorithm>

#include "base/integers.h"
#include "kernels/taps/device/layout.h"

namespace wt {
namespace {

constexpr int64_t kSharedBytesOfUnit = 228 * 1024, kReservedBytes = 1024;
constexpr int64_t kThreadsOfUnit = 2048;
constexpr int64_t kStartRows = 12;  // that the filter's way into shared memory takes as long as

TapsDim dim_of(const ConvProblem& p, size_t i) {
  const bool forward = p.direction == Direction::kForward;
  const int64_t span = (p.filter[i] - 1) * p.dilation[i];
  TapsDim dim{};
  dim.taps = p.filter[i];
  dim.dilation = p.dilation[i];
  dim.stride = forward ? 1 : p.stride[i];
  dim.shift = forward ? span - p.pad_lower[i] : p.pad_lower[i];
  dim.size = forward ? p.out()[i] : p.in[i];
  dim.first_unit = floor_div(dim.shift, dim.stride);
  dim.units = floor_div(dim.shift + dim.size - 1, dim.stride) - dim.first_unit + 1;
  dim.reach = span / dim.stride;
  return dim;
}

}  // namespace

TapsView taps_view(const ConvProblem& p) {
  const bool forward = p.direction == Direction::kForward;
  TapsView view{};
  view.d = dim_of(p, 0);
  view.h = dim_of(p, 1);
  view.w = dim_of(p, 2);
  view.depth = forward ? p.c : p.k;
  view.depth_blocks = ceil_div(view.depth, taps_layout::kDepth);
  view.row_blocks = view.depth_blocks * view.d.taps;
  view.channels = forward ? p.k : p.c;
  view.columns = view.channels * view.h.taps * view.w.taps;
  const int64_t most = taps_layout::kPixels - view.w.reach;
  if (most > 0) {
    // As even as the number of strips allows.
    view.strips = ceil_div(view.w.units, most);
    view.strip_units = ceil_div(view.w.units, view.strips);
  }
  view.before = view.w.reach;
  // Images as wide as a strip's source: what lies outside them is zero and not loaded (kernels/taps/device/layout.h).
  const int64_t wide = forward ? p.in[2] : p.out()[2], left = view.w.reach - view.w.first_unit;
  const int64_t right = view.w.first_unit + view.w.units - taps_layout::kPixels;
  if (view.strips > 1 && wide <= taps_layout::kPixels && view.w.units <= taps_layout::kPixels && left >= 0 &&
      left <= taps_layout::kOutside && right <= taps_layout::kOutside) {
    view.strips = 1;
    view.strip_units = view.w.units;
    view.before = view.w.first_unit;
  }
  view.window = std::max((view.h.taps - 1) * view.h.dilation + 1, view.h.stride);
  view.window_numbers = view.window * view.channels * view.w.stride * view.strip_units;
  return view;
}

int64_t taps_columns(const KernelConfig& config, const TapsView& view) {
  return taps_layout::sums_rows(config) ? view.channels * view.w.taps : view.columns;
}

int64_t taps_shared_bytes(const KernelConfig& config, const TapsView& view) {
  return taps_layout::shared_bytes(config, static_cast<int>(view.row_blocks), view.window_numbers);
}

int64_t taps_resident(const KernelConfig& config, const TapsView& view) {
  const int64_t by_memory = kSharedBytesOfUnit / (taps_shared_bytes(config, view) + kReservedBytes);
  return std::max<int64_t>(1, std::min(by_memory, kThreadsOfUnit / taps_layout::threads(config)));
}

int64_t taps_segment_units(const KernelConfig& config, const ConvProblem& problem, const TapsView& view,
                           int multiprocessors) {
  const int64_t resident = multiprocessors * taps_resident(config, view),
                across = problem.n * view.d.size * view.strips;
  int64_t best = view.h.units, best_rows = -1;
  for (int64_t segments = 1; segments <= view.h.units; ++segments) {
    const int64_t units = ceil_div(view.h.units, segments);
    const int64_t blocks = across * ceil_div(view.h.units, units);
    const int64_t rows = ceil_div(blocks, resident) * (units + view.h.reach + kStartRows);
    if (best_rows < 0 || rows < best_rows) best = units, best_rows = rows;
    if (blocks > 4 * resident) break;
  }
  return best;
}

int64_t taps_blocks(const KernelConfig& config, int64_t jobs, const ConvProblem& problem, int multiprocessors) {
  if (config.dims != 1) return jobs;
  return std::min(jobs, multiprocessors * taps_resident(config, taps_view(problem)));
}

}  // namespace wt
