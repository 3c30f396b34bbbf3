// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/transpose_filter_arguments.h - the launch of transpose_filter.h as the host sees it.
//
// Freestanding: the host asks where a phase's taps begin by the function that the kernel writes by.
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

inline constexpr int kTransposeThreads = 256, kTransposeTile = 64;
// Of the entry's name, after that of the kernel it prepares for.
inline constexpr const char* kTransposeSuffix = "_transpose";

struct TransposeFilterArguments {
  const void* w;           // (groups, filters, taps, channels)
  void* turned;            // (groups, channels, taps by phase, filters)
  i32 channels, filters;   // of a group: input and output channels
  i32 filter[3], step[3];  // taps along each dimension; taps so far apart belong to one phase
  u32 tiles_c, tiles_k, taps;
};

// Along a dimension of `taps`, those whose remainder by `step` is smaller, and those with this remainder.
constexpr i32 taps_before(i32 taps, i32 step, i32 remainder) {
  const i32 left = taps % step;
  return taps / step * remainder + (remainder < left ? remainder : left);
}
constexpr i32 taps_with(i32 taps, i32 step, i32 remainder) {
  return remainder < taps ? (taps - remainder + step - 1) / step : 0;
}

// Where the taps with these remainders along d, h, w begin: they follow each other, w fastest.
constexpr i32 phase_start(const i32 (&filter)[3], const i32 (&step)[3], const i32 (&remainder)[3]) {
  i32 start = 0, outer = 1;
  for (int i = 0; i < 3; ++i) {
    i32 inner = 1;
    for (int j = i + 1; j < 3; ++j) inner *= filter[j];
    start += outer * taps_before(filter[i], step[i], remainder[i]) * inner;
    outer *= taps_with(filter[i], step[i], remainder[i]);
  }
  return start;
}

}  // namespace wt
