// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/filter_sums.h - what x's zero point adds to the sums of int8, for every class of pixels.
//
//   w --> table (classes of d, h, w, output channels) = x_zero * sum of the filter over the taps inside the image
//
// The launch before a kernel of int8 whose x has a zero point. Kernels fill padding with zeros, so that what they sum
// too much depends on the taps that lie inside. A warp adds one number of the table.
#pragma once

#include "kernels/beside/device/filter_sums_arguments.h"
#include "target/target.h"

namespace wt {

template <KernelConfig kConfig>
struct FilterSums {
  using Params = FilterSumsArguments;
  static constexpr int kThreads = kFilterSumsThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    constexpr int kWarps = kThreads / device::kWarpSize;
    const i32(&classes)[3] = p.classes;
    const i64 all = static_cast<i64>(classes[0]) * classes[1] * classes[2] * p.outputs;
    const i64 step = static_cast<i64>(device::grid_size().x) * kWarps;
    for (i64 at = static_cast<i64>(device::block_index().x) * kWarps + device::warp_index(); at < all; at += step) {
      const i32 place = static_cast<i32>(at / p.outputs);
      const i32 pixel[3] = {pixel_of(p, 0, place / classes[2] / classes[1]),
                            pixel_of(p, 1, place / classes[2] % classes[1]), pixel_of(p, 2, place % classes[2])};
      u32 sum = static_cast<u32>(lane_sum(p, at % p.outputs, pixel));
      for (int other = device::kWarpSize / 2; other > 0; other /= 2) sum += device::shuffle_xor(sum, other);
      if (device::lane_index() == 0) device::store_global(p.table + at, static_cast<i32>(sum) * p.x_zero);
    }
  }

 private:
  // One of the class; where the image has none between its borders, the class of those is empty and any will do.
  WT_DEVICE static i32 pixel_of(const Params& p, int dimension, i32 number) {
    const Correction& c = p.correction;
    const i32 pixel = number <= c.low[dimension] ? number : c.high[dimension] + number - c.low[dimension];
    return pixel < p.out[dimension] ? pixel : p.out[dimension] - 1;
  }
  WT_DEVICE static bool is_inside(const Params& p, int dimension, i32 pixel, i32 tap) {
    const i64 from = static_cast<i64>(pixel) * p.stride[dimension] + static_cast<i64>(tap) * p.dilation[dimension] -
                     p.pad[dimension];
    return from >= 0 && from < p.in[dimension];
  }

  // What this lane reads of the filter: some channels of every tap.
  WT_DEVICE static i32 lane_sum(const Params& p, i64 output, const i32 (&pixel)[3]) {
    const auto* filter = static_cast<const I8*>(p.w) + output * p.filter_step;
    i32 sum = 0;
    for (i32 d = 0; d < p.filter[0]; ++d) {
      if (!is_inside(p, 0, pixel[0], d)) continue;
      for (i32 h = 0; h < p.filter[1]; ++h) {
        if (!is_inside(p, 1, pixel[1], h)) continue;
        for (i32 w = 0; w < p.filter[2]; ++w) {
          if (!is_inside(p, 2, pixel[2], w)) continue;
          const I8* tap = filter + d * p.tap_step[0] + h * p.tap_step[1] + w * p.tap_step[2];
          for (i32 c = device::lane_index(); c < p.channels; c += device::kWarpSize)
            sum += static_cast<signed char>(device::load_global(tap + c * p.channel_step).bits);
        }
      }
    }
    return sum;
  }
};

}  // namespace wt
