// SPDX-License-Identifier: Apache-2.0
// problem/tap_regions.h - rectangles of the output of a dilated problem whose pixels see the same taps.
//
// The taps of a wide filter often miss the image: of 3x3 with dilation 18 on 33x33 a pixel sees 3.6 on average.
#pragma once

#include <array>
#include <vector>

#include "problem/problem.h"

namespace wt {

// Pixels [first, first + count) see taps [tap_first, tap_first + tap_count); backward data counts taps from the last.
struct TapSegment {
  int64_t first = 0, count = 0;
  int64_t tap_first = 0, tap_count = 0;
};
struct TapRegion {
  std::array<TapSegment, kMaxDims> dim;  // d, h, w
  int64_t pixels() const { return dim[0].count * dim[1].count * dim[2].count; }
  int64_t taps() const { return dim[0].tap_count * dim[1].tap_count * dim[2].tap_count; }
};

inline constexpr int kMaxTapRegions = 9;

// For forward, and for backward data with unit stride. Empty where the output is better left in one piece: without
// dilation, where few products would be saved, or where an im2col copy could not walk over a rectangle.
std::vector<TapRegion> tap_regions(const ConvProblem& problem);

}  // namespace wt
