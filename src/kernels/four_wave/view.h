// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/view.h - a problem as the four-wave kernels see it: an image that is gathered, a filter whose rows
// are summed along, and phases of the output. Forward it is the problem itself; backward data gathers dy.
#pragma once

#include "kernels/view.h"
#include "problem/gemm_view.h"

namespace wt {

struct FourWavePart {  // pixels of the output that meet the same taps
  Spatial size{}, taps{}, pad{}, first{};
  int64_t first_tap = 0;  // of a row of the filter

  int64_t pixels_of_image() const { return size[0] * size[1] * size[2]; }
  int64_t tap_count() const { return taps[0] * taps[1] * taps[2]; }
};

struct FourWaveView {
  explicit FourWaveView(const View& seen);
  static const FourWaveView& of(const View& seen) { return seen.part<FourWaveView>(); }

  int64_t n, g, channels, columns;  // channels: gathered, and columns of the output, of a group
  int64_t taps;                     // of the filter
  Spatial in, out;                  // of the gathered image and of the output
  Spatial stride, dilation;         // of the gathering; a dilation may be negative
  std::vector<FourWavePart> parts;  // more than kMostParts: none

  static constexpr int64_t kMostParts = 16;

  int64_t tiles_m(const FourWavePart& part, int64_t rows) const;
  int64_t tiles(const KernelConfig& config) const;
};

}  // namespace wt
