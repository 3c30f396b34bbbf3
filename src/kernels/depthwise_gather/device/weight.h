// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_gather/device/weight.h - depthwise backward weight, any filter, stride, dilation, multiplier and
// layout: partial sums of dw.
//
//   x, dy --> registers --> sums of a run of taps --> workspace (splits, k, taps)
//
// A thread has vector_out channels of sub_w taps of one row of the filter, and walks over some parts of rows of dy.
// Each such walk is a split of its own; kernels/device/direct/sum.h adds them in order.
#pragma once

#include "kernels/device/direct/arguments.h"
#include "kernels/device/direct/channels.h"

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
    for (i64 part = first; part < end; ++part) add_part(p, taps, channel, part, sum);

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
  static constexpr bool kHistory = kConfig.direct.history;  // one-dimensional, so that all before pixel 0 is along w
  using X = Storage<kConfig.x>;
  using Y = Storage<kConfig.y>;

  struct Taps {
    i32 d, r, s;
  };

  static constexpr int kPixels = kWidth * kTaps > 32 ? 1 : 2;  // of dy that are on their way together

  // Part `part` of the rows of dy, counted over columns, rows, planes and images.
  WT_DEVICE static void add_part(const Params& p, const Taps& taps, i32 channel, i64 part,
                                 float (&sum)[kTaps][kWidth]) {
    const i32 first = static_cast<i32>(part % p.column_tiles) * p.lattice_columns;
    part /= p.column_tiles;
    const i32 h = static_cast<i32>(part % p.to.size[1]);
    part /= p.to.size[1];
    const i32 d = static_cast<i32>(part % p.to.size[0]);
    const i64 image = part / p.to.size[0];
    const i32 z = d * p.stride[0] - p.pad[0] + taps.d * p.dilation[0];
    const i32 y = h * p.stride[1] - p.pad[1] + taps.r * p.dilation[1];
    if (z < 0 || z >= p.from.size[0] || y < 0 || y >= p.from.size[1]) return;
    const X* from_x = static_cast<const X*>(p.first) + image * p.from.n + z * p.from.spatial[0] + y * p.from.spatial[1];
    const Y* from_y = static_cast<const Y*>(p.second) + image * p.to.n + d * p.to.spatial[0] + h * p.to.spatial[1] +
                      channel * p.to.channel;
    const i32 end = first + p.lattice_columns < p.to.size[2] ? first + p.lattice_columns : p.to.size[2];
    const i32 origin = taps.s * p.dilation[2] - p.pad[2];
    i64 apart[kVector ? 1 : kWidth];  // from a pixel to each of the thread's channels
    i64 past_apart[kVector ? 1 : kWidth];
    WT_UNROLL for (int e = 0; e < (kVector ? 1 : kWidth); ++e) {
      apart[e] = kVector ? channel : (channel + e) / p.multiplier * p.from.channel;
      if constexpr (kHistory) past_apart[e] = kVector ? channel : (channel + e) / p.multiplier * p.history.channel;
    }
    const X* const past = kHistory ? static_cast<const X*>(p.history.data) + image * p.history.n : nullptr;
    for (i32 w = first; w < end; w += kPixels) {
      // WHY all loads first: a product between them would wait for each in turn.
      Channels<Y, kWidth> dy[kPixels];
      Fetched x[kPixels][kTaps];
      bool exists[kPixels][kTaps];
      WT_UNROLL for (int i = 0; i < kPixels; ++i) {
        const i32 column = origin + (w + i) * p.stride[2];
        dy[i] = Channels<Y, kWidth>::load(from_y + (w + i) * p.to.spatial[2], w + i < end);
        WT_UNROLL for (int tap = 0; tap < kTaps; ++tap) {
          // Taps beyond the filter read what exists and are not stored.
          const i32 position = column + tap * p.dilation[2];
          exists[i][tap] = w + i < end && (kHistory || position >= 0) && position < p.from.size[2];
          if constexpr (kHistory) {
            if (position < 0) {
              const X* const from = past + static_cast<i64>(p.history.length + position) * p.history.pixel;
              x[i][tap] = Fetched::load(from, past_apart, exists[i][tap]);
              continue;
            }
          }
          x[i][tap] = Fetched::load(from_x + position * p.from.spatial[2], apart, exists[i][tap]);
        }
      }
      WT_UNROLL for (int i = 0; i < kPixels; ++i) {
        WT_UNROLL for (int tap = 0; tap < kTaps; ++tap) {
          // WHY asked: beside the image there is no product, and an infinite dy would make one of zero.
          if (!exists[i][tap]) continue;
          WT_UNROLL for (int e = 0; e < kWidth; ++e) {
            sum[tap][e] = device::multiply_add(x[i][tap].value(e), dy[i].value(e), sum[tap][e]);
          }
        }
      }
    }
  }

  // A thread's channels of a pixel of x, as they came from memory.
  struct Fetched {
    typename Choose<kVector, Channels<X, kWidth>, Vector<X, kWidth>>::Type held;

    WT_DEVICE static Fetched load(const X* pixel, const i64 (&apart)[kVector ? 1 : kWidth], bool exists) {
      Fetched to;
      if constexpr (kVector) {
        to.held = Channels<X, kWidth>::load(pixel + apart[0], exists);
      } else {
        WT_UNROLL for (int e = 0; e < kWidth; ++e) {
          to.held.at[e] = X{};
          if (exists) to.held.at[e] = device::load_global(pixel + apart[e]);
        }
      }
      return to;
    }
    WT_DEVICE float value(int e) const {
      if constexpr (kVector) {
        return held.value(e);
      } else {
        return device::to_float(held.at[e]);
      }
    }
  };
};

}  // namespace wt
