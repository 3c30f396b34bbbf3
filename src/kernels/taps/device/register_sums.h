// SPDX-License-Identifier: Apache-2.0
// kernels/taps/device/register_sums.h - sums of products over the taps of a filter that is known: output rows in the
// making stay in registers.
//
//   products (pixel; channel, tap) --> a thread's outputs, as many rows as the filter has --> epilogue --> output
//
// A thread has the same outputs of every row, so that addresses are found once and the sums' loads differ by constants.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/taps/device/layout.h"
#include "kernels/taps/device/place.h"

namespace wt {

template <KernelConfig kConfig>
struct RegisterSums {
  static constexpr int kMathThreads = taps_layout::kMathThreads, kPitch = taps_layout::kProductPitch;
  static constexpr int kTapsH = kConfig.fixed.filter_h, kTapsW = kConfig.fixed.filter_w;
  static constexpr int kStrideH = kConfig.fixed.stride_h, kStrideW = kConfig.fixed.stride_w;
  static constexpr int kWindow = kTapsH > kStrideH ? kTapsH : kStrideH;
  static constexpr int kNumbers = taps_layout::numbers_of_thread(kConfig);
  static constexpr int kTerms = (kTapsW + kStrideW - 1) / kStrideW;  // of an output in a row of the filter, at most
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;

  const TapsArguments& p;
  const TapsStrip& strip;
  SharedAddress products;
  float window[kNumbers][kWindow];
  SharedAddress from[kNumbers];  // of the first tap's product
  i64 offset[kNumbers];          // in the image's first row of output
  i32 channel[kNumbers];
  bool exists[kNumbers], whole[kNumbers];  // whole: the last term is there too

  WT_DEVICE void start() {
    const i32 numbers = taps_row_numbers(p);
    WT_UNROLL for (int i = 0; i < kNumbers; ++i) {
      const i32 number = device::thread_index() + i * kMathThreads;
      const bool inside = number < numbers;
      const TapsPlace place = taps_place(p, inside ? number : 0);
      const i32 w = (strip.first_w + place.unit) * kStrideW + place.rest - p.shift[1];
      exists[i] = inside && place.unit < strip.width && w >= 0 && w < p.size[1];
      whole[i] = place.rest + (kTerms - 1) * kStrideW < kTapsW;
      channel[i] = place.channel;
      from[i] = products + ((place.channel * kTapsH * kTapsW + place.rest) * kPitch + place.unit + p.before) * 4;
      offset[i] = strip.image * p.out_stride[0] + w * p.out_stride[2] + place.channel;
      WT_UNROLL for (int row = 0; row < kWindow; ++row) window[i][row] = 0;
    }
  }

  WT_DEVICE void add(i32) {
    WT_UNROLL for (int i = 0; i < kNumbers; ++i) {
      WT_UNROLL for (int tap = 0; tap < kTapsH; ++tap) {
        float sum = 0;
        WT_UNROLL for (int term = 0; term < kTerms; ++term) {
          // WHY always the first: a remainder without a tap exists only where the stride is larger than the filter.
          const bool there = term + 1 < kTerms || whole[i];
          if (there)
            sum += device::load_shared<float>(from[i] + ((tap * kTapsW + term * kStrideW) * kPitch - term) * 4);
        }
        window[i][tap] += sum;
      }
    }
  }

  // Output rows of this unit have met their last source row: they leave, and those behind move up.
  WT_DEVICE void finish(i32 row, Steps& steps) {
    auto* out = static_cast<typename Steps::Element*>(p.out);
    WT_UNROLL for (int rest = 0; rest < kStrideH; ++rest) {
      const i32 h = row * kStrideH + rest - p.shift[0];
      const bool row_exists = row >= strip.first_h && h >= 0 && h < p.size[0];
      WT_UNROLL for (int i = 0; i < kNumbers; ++i) {
        if (!row_exists || !exists[i]) continue;
        const i64 at = offset[i] + h * p.out_stride[1];
        Steps::write(out + at, steps.apply(p.epilogue, window[i][rest], at, channel[i]));
      }
    }
    WT_UNROLL for (int i = 0; i < kNumbers; ++i) {
      WT_UNROLL for (int to = 0; to < kWindow; ++to) window[i][to] =
          to + kStrideH < kWindow ? window[i][to + kStrideH] : 0;
    }
  }
};

}  // namespace wt
