// SPDX-License-Identifier: Apache-2.0
// kernel/direct/gather_weight.h - depthwise backward weight, any filter, stride, dilation, multiplier and layout:
// partial sums of dw.
//
//   x, dy --> registers --> sums of a run of taps --> workspace (splits, k, taps)
//
// A thread has vector_out channels of sub_w taps of one row of the filter, and walks over some rows of dy. Each such
// walk is a split of its own; kernel/direct/sum.h adds them in order.
#pragma once

#include "kernel/direct/arguments.h"
#include "kernel/direct/channels.h"

namespace wt {

template <KernelConfig kConfig>
struct DirectGatherWeight {
  using Params = GatherArguments;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kMinBlocks = kConfig.min_blocks;

  WT_DEVICE static void run(const Params& p) {
    i32 thread = device::thread_index(), block = device::block_index().x;
    const i32 lane = thread % p.blocks.lanes;
    thread /= p.blocks.lanes;
    const i32 tap_lane = thread % p.column_lanes, slot = thread / p.column_lanes;
    const i32 slots = kThreads / (p.blocks.lanes * p.column_lanes);
    const i32 channel = (block % p.blocks.channel_blocks * p.blocks.lanes + lane) * kWidth;
    block /= p.blocks.channel_blocks;
    const i32 runs = p.filter[0] * p.filter[1] * p.tap_runs, run_blocks = (runs + p.column_lanes - 1) / p.column_lanes;
    const i32 run = block % run_blocks * p.column_lanes + tap_lane;
    const i32 split = block / run_blocks * slots + slot;
    if (slot >= slots || split >= p.splits || run >= runs || channel >= p.channels) return;

    Taps taps;
    taps.s = run % p.tap_runs * kTaps;
    taps.r = run / p.tap_runs % p.filter[1];
    taps.d = run / p.tap_runs / p.filter[1];
    float sum[kTaps][kWidth] = {};
    const i64 all = p.strips, first = split * p.rows_per_split;
    const i64 end = first + p.rows_per_split < all ? first + p.rows_per_split : all;
    for (i64 row = first; row < end; ++row) add_row(p, taps, channel, row, sum);

    const i64 filter = static_cast<i64>(p.filter[0]) * p.filter[1] * p.filter[2];
    const i64 at = (taps.d * p.filter[1] + taps.r) * static_cast<i64>(p.filter[2]) + taps.s;
    auto* out = static_cast<float*>(p.out) + (split * static_cast<i64>(p.channels) + channel) * filter + at;
    WT_UNROLL for (int e = 0; e < kWidth; ++e) {
      WT_UNROLL for (int i = 0; i < kTaps; ++i) {
        if (taps.s + i < p.filter[2]) device::store_global(out + e * filter + i, sum[i][e]);
      }
    }
  }

 private:
  static constexpr int kWidth = kConfig.direct.vector_out;
  static constexpr int kTaps = kConfig.direct.sub_w;
  static constexpr bool kVector = kConfig.direct.vector_in == kWidth && kWidth > 1;
  using X = Storage<kConfig.x>;
  using Y = Storage<kConfig.y>;

  struct Taps {
    i32 d, r, s;
  };

  // Row `row` of dy, counted over images and planes.
  WT_DEVICE static void add_row(const Params& p, const Taps& taps, i32 channel, i64 row, float (&sum)[kTaps][kWidth]) {
    const i32 h = static_cast<i32>(row % p.to.size[1]);
    row /= p.to.size[1];
    const i32 d = static_cast<i32>(row % p.to.size[0]);
    const i64 image = row / p.to.size[0];
    const i32 z = d * p.stride[0] - p.pad[0] + taps.d * p.dilation[0];
    const i32 y = h * p.stride[1] - p.pad[1] + taps.r * p.dilation[1];
    if (z < 0 || z >= p.from.size[0] || y < 0 || y >= p.from.size[1]) return;
    const X* from_x = static_cast<const X*>(p.first) + image * p.from.n + z * p.from.spatial[0] + y * p.from.spatial[1];
    const Y* from_y = static_cast<const Y*>(p.second) + image * p.to.n + d * p.to.spatial[0] + h * p.to.spatial[1] +
                      channel * p.to.channel;
    i32 column = taps.s * p.dilation[2] - p.pad[2];
    for (i32 w = 0; w < p.to.size[2]; ++w, column += p.stride[2]) {
      float dy[kWidth];
      read_y(from_y + w * p.to.spatial[2], dy);
      WT_UNROLL for (int i = 0; i < kTaps; ++i) {
        const i32 position = column + i * p.dilation[2];
        // Taps beyond the filter read what exists and are not stored.
        if (position < 0 || position >= p.from.size[2]) continue;
        float x[kWidth];
        read_x(p, from_x + position * p.from.spatial[2], channel, x);
        WT_UNROLL for (int e = 0; e < kWidth; ++e) sum[i][e] = device::multiply_add(x[e], dy[e], sum[i][e]);
      }
    }
  }
  WT_DEVICE static void read_y(const Y* at, float (&to)[kWidth]) {
    const auto held = Channels<Y, kWidth>::load(at, true);
    WT_UNROLL for (int e = 0; e < kWidth; ++e) to[e] = held.value(e);
  }
  WT_DEVICE static void read_x(const Params& p, const X* pixel, i32 channel, float (&to)[kWidth]) {
    if constexpr (kVector) {
      const auto held = Channels<X, kWidth>::load(pixel + channel, true);
      WT_UNROLL for (int e = 0; e < kWidth; ++e) to[e] = held.value(e);
    } else {
      WT_UNROLL for (int e = 0; e < kWidth; ++e) to[e] =
          device::to_float(device::load_global(pixel + (channel + e) / p.multiplier * p.from.channel));
    }
  }
};

}  // namespace wt
