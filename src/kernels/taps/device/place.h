// SPDX-License-Identifier: Apache-2.0
// kernels/taps/device/place.h - the part of an output that a block of a taps kernel makes, and its outputs by number.
#pragma once

#include "kernels/taps/device/arguments.h"
#include "kernels/taps/device/layout.h"
#include "target/target.h"

namespace wt {

// What a block makes: units [first, last) of both dimensions, from source rows that start `reach` earlier.
struct TapsStrip {
  i32 image, first_h, last_h, first_w, width;
};

WT_DEVICE TapsStrip taps_strip(const TapsArguments& p, i32 job) {
  const auto index = static_cast<u32>(job);
  const u32 row = index / static_cast<u32>(p.strips), strip = index - row * static_cast<u32>(p.strips);
  const u32 image = row / static_cast<u32>(p.segments), segment = row - image * static_cast<u32>(p.segments);
  const i32 first_h = static_cast<i32>(segment) * p.segment_units, first_w = static_cast<i32>(strip) * p.strip_units;
  const i32 last_h = first_h + p.segment_units < p.units[0] ? first_h + p.segment_units : p.units[0];
  return {static_cast<i32>(image), p.first_unit[0] + first_h, p.first_unit[0] + last_h, p.first_unit[1] + first_w,
          p.units[1] - first_w < p.strip_units ? p.units[1] - first_w : p.strip_units};
}

// An output of the strip's row, by number: channel, then remainder of the stride, then unit.
struct TapsPlace {
  i32 channel, rest, unit;
};

// Outputs of a row of the strip.
WT_DEVICE i32 taps_row_numbers(const TapsArguments& p) { return p.channels * p.stride[1] * p.strip_units; }

WT_DEVICE TapsPlace taps_place(const TapsArguments& p, i32 number) {
  const u32 line = static_cast<u32>(number) / static_cast<u32>(p.strip_units);
  const u32 channel = line / static_cast<u32>(p.stride[1]);
  return {static_cast<i32>(channel), static_cast<i32>(line - channel * static_cast<u32>(p.stride[1])),
          number - static_cast<i32>(line) * p.strip_units};
}

// The zeros around the products of each column (layout.h); by kThreads threads.
template <int kThreads>
WT_DEVICE void clear_outside(SharedAddress products, int columns) {
  constexpr int kOutside = taps_layout::kOutside;
  for (int i = device::thread_index(); i < (columns + 1) * kOutside; i += kThreads) {
    const int column = i / kOutside - 1;
    device::store_shared<float>(
        products + static_cast<u32>(column * taps_layout::kProductPitch + taps_layout::kPixels + i % kOutside) * 4, 0);
  }
}

}  // namespace wt
