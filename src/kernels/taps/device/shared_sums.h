// SPDX-License-Identifier: Apache-2.0
// kernels/taps/device/shared_sums.h - sums of products over the taps, of any filter: output rows in the making lie in
// shared memory.
//
//   products (pixel; channel, tap) --> window of output rows --> epilogue --> output
//
// Each output has one thread, which adds in one order.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/taps/device/layout.h"
#include "kernels/taps/device/place.h"

namespace wt {

template <KernelConfig kConfig>
struct SharedSums {
  static constexpr int kMathThreads = taps_layout::kMathThreads, kPitch = taps_layout::kProductPitch;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;

  const TapsArguments& p;
  const TapsStrip& strip;
  SharedAddress products, window;

  // By all math threads, with a barrier behind.
  WT_DEVICE void start() {
    for (i32 i = device::thread_index(); i < p.window * row_numbers(); i += kMathThreads)
      device::store_shared<float>(window + i * 4, 0);
  }

  WT_DEVICE void add(i32 row) {
    const i32 numbers = row_numbers();
    const i32 first_row = window_row(row * p.stride[0]);
    const u32 step = static_cast<u32>(p.tap_step * kPitch - p.source_step) * 4;
    for (i32 number = device::thread_index(); number < numbers; number += kMathThreads) {
      const TapsPlace place = taps_place(p, number);
      const i32 tap_first = p.tap_first[place.rest];
      if (tap_first < 0) continue;
      SharedAddress from =
          products +
          ((place.channel * p.taps[0] * p.taps[1] + tap_first) * kPitch + place.unit + p.tap_source[place.rest]) * 4;
      i32 into = first_row;
      for (i32 tap_h = 0; tap_h < p.taps[0]; ++tap_h) {
        SharedAddress at = from;
        float sum = 0;
        for (i32 tap = tap_first; tap < p.taps[1]; tap += p.tap_step, at += step) sum += device::load_shared<float>(at);
        const SharedAddress to = window + (into * numbers + number) * 4;
        device::store_shared(to, device::load_shared<float>(to) + sum);
        from += static_cast<u32>(p.taps[1] * kPitch) * 4;
        into += p.dilation[0];
        if (into >= p.window) into -= p.window;
      }
    }
  }

  // Output rows of this unit have met their last source row: they leave, and their place starts again at zero.
  WT_DEVICE void finish(i32 row, Steps& steps) {
    const i32 numbers = row_numbers();
    auto* out = static_cast<typename Steps::Element*>(p.out);
    for (i32 rest_h = 0; rest_h < p.stride[0]; ++rest_h) {
      const i32 output = row * p.stride[0] + rest_h, h = output - p.shift[0];
      const bool exists = row >= strip.first_h && h >= 0 && h < p.size[0];
      const SharedAddress line = window + window_row(output) * numbers * 4;
      for (i32 number = device::thread_index(); number < numbers; number += kMathThreads) {
        const float value = device::load_shared<float>(line + number * 4);
        device::store_shared<float>(line + number * 4, 0);
        const TapsPlace place = taps_place(p, number);
        const i32 w = (strip.first_w + place.unit) * p.stride[1] + place.rest - p.shift[1];
        if (!exists || place.unit >= strip.width || w < 0 || w >= p.size[1]) continue;
        const i64 offset = strip.image * p.out_stride[0] + h * p.out_stride[1] + w * p.out_stride[2] + place.channel;
        Steps::write(out + offset, steps.apply(p.epilogue, value, offset, place.channel));
      }
    }
  }

 private:
  WT_DEVICE i32 row_numbers() const { return taps_row_numbers(p); }
  // Where output row `output`, counted with its shift, lies in the window.
  WT_DEVICE i32 window_row(i32 output) const {
    const i32 rest = output % p.window;
    return rest < 0 ? rest + p.window : rest;
  }
};

}  // namespace wt
