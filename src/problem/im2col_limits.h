// SPDX-License-Identifier: Apache-2.0
// problem/im2col_limits.h - how far the walk of a bulk im2col copy may start, end and reach.
#pragma once

#include <cstdint>

namespace wt {

// Corners and offsets of an im2col map have 16, 8 or 5 bits in one, two or three dimensions.
struct Im2colLimits {
  int64_t low, high;  // of corners
  int64_t offsets;    // of taps: fewer than that
};
constexpr Im2colLimits im2col_limits(int dims) {
  constexpr Im2colLimits kLimits[] = {{-32768, 32767, 65536}, {-128, 127, 256}, {-16, 15, 32}};
  return kLimits[dims - 1];
}

}  // namespace wt
