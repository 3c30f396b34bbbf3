// SPDX-License-Identifier: Apache-2.0
#include "problem/tap_regions.h"

#include <algorithm>

#include "problem/im2col_limits.h"

namespace wt {
namespace {

// Products that are left, of all of them, where dividing pays for more and smaller tiles.
constexpr double kWorthwhile = 0.85;

// One dimension: pixel p and tap t read the image at start + p * step + t * reach, if that is in [0, image).
struct Line {
  int64_t size, start, step, image, taps, reach;
};

Line line_of(const ConvProblem& problem, size_t i) {
  const int64_t out = problem.out()[i], taps = problem.filter[i], reach = problem.dilation[i];
  if (problem.direction == Direction::kForward)
    return {out, -problem.pad_lower[i], problem.stride[i], problem.in[i], taps, reach};
  return {problem.in[i], problem.pad_lower[i] - (taps - 1) * reach, 1, out, taps, reach};
}

TapSegment taps_at(const Line& line, int64_t pixel) {
  const int64_t at = line.start + pixel * line.step;
  const int64_t first = at >= 0 ? 0 : (-at + line.reach - 1) / line.reach;
  const int64_t room = line.image - 1 - at;
  const int64_t end = room < 0 ? 0 : std::min(line.taps, room / line.reach + 1);
  return {pixel, 1, end > first ? first : 0, std::max<int64_t>(0, end - first)};
}

std::vector<TapSegment> segments_of(const Line& line) {
  std::vector<TapSegment> segments;
  for (int64_t pixel = 0; pixel < line.size; ++pixel) {
    const TapSegment next = taps_at(line, pixel);
    TapSegment* last = segments.empty() ? nullptr : &segments.back();
    if (last && last->tap_first == next.tap_first && last->tap_count == next.tap_count) {
      ++last->count;
    } else {
      segments.push_back(next);
    }
  }
  return segments;
}

// Whether im2col copies can walk over each of the segments.
bool corners_fit(const Line& line, const std::vector<TapSegment>& segments, int dims) {
  const Im2colLimits limits = im2col_limits(dims);
  return std::all_of(segments.begin(), segments.end(), [&](const TapSegment& segment) {
    const int64_t lower = line.start + segment.first * line.step;
    const int64_t upper = lower + (segment.count - 1) * line.step - (line.image - 1);
    return std::min(lower, upper) >= limits.low && std::max(lower, upper) <= limits.high;
  });
}

bool may_divide(const ConvProblem& problem) {
  if (problem.direction == Direction::kBackwardWeight) return false;
  const bool unit = std::all_of(problem.stride.begin(), problem.stride.end(), [](int64_t s) { return s == 1; });
  if (problem.direction == Direction::kBackwardData && !unit) return false;
  return std::any_of(problem.dilation.begin(), problem.dilation.end(), [](int64_t d) { return d > 1; });
}

}  // namespace

std::vector<TapRegion> tap_regions(const ConvProblem& problem) {
  if (!may_divide(problem)) return {};
  std::array<std::vector<TapSegment>, kMaxDims> segments;
  size_t count = 1;
  for (size_t i = 0; i < kMaxDims; ++i) {
    const Line line = line_of(problem, i);
    segments[i] = segments_of(line);
    count *= segments[i].size();
    const bool walked = static_cast<int>(i) >= kMaxDims - problem.dims;
    if (walked && !corners_fit(line, segments[i], problem.dims)) return {};
  }
  if (count > kMaxTapRegions) return {};
  std::vector<TapRegion> regions;
  double products = 0, all = 0;
  for (const TapSegment& d : segments[0]) {
    for (const TapSegment& h : segments[1]) {
      for (const TapSegment& w : segments[2]) {
        regions.push_back({{d, h, w}});
        products += static_cast<double>(regions.back().pixels() * regions.back().taps());
        all += static_cast<double>(regions.back().pixels() * problem.filter_taps());
      }
    }
  }
  if (products > kWorthwhile * all) return {};
  return regions;
}

}  // namespace wt
