// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/device/taps.h - the filter in shared memory, and which of its taps each place of a step's
// matrix B is.
//
//   w (k, taps) --> rows (multiple, row of the filter, tap, channel of the block), a tap of zeros after each row's last
//
// B (16 pixels of a step, 8 outputs of a strip) is the same for all strips: the tap that pixel and output meet by, or
// zero. The order of k is free: a lane's pair are pixels t and t+4 (as in kernels/depthwise_banded/device/tile.h).
#pragma once

#include "kernels/depthwise_strips/device/arguments.h"
#include "kernels/depthwise_strips/device/shape.h"
#include "target/target.h"

namespace wt {

// The output of a strip that column `n` of the instruction is.
WT_DEVICE int strips_output(int n) { return n / 2 + 4 * (n % 2); }

// The tap by which output `out` of a strip meets the pixel `pixel` after the strip's first; -1: none.
template <Direction kDirection>
WT_DEVICE i32 strips_tap(const StripsArguments& p, i32 pixel, i32 out) {
  i32 distance = pixel - out * p.stride[2];
  if constexpr (kDirection == Direction::kBackwardData) {
    if (out >= p.strip_columns) return -1;
    distance = out + p.pad[2] - (pixel + p.origin) * p.stride[2];
  }
  const i32 tap = distance / p.dilation[2];
  return distance >= 0 && tap * p.dilation[2] == distance && tap < p.filter[2] ? tap : -1;
}

template <KernelConfig kConfig>
struct StripsTaps {
  using Element = Storage<kConfig.w>;
  static constexpr int kThreads = kConfig.direct.block_size;
  static constexpr int kChannels = strips::channels(kConfig);
  static constexpr int kLanes = 32;
  using Offsets = Vector<u16, 4>;  // of the taps of a lane's four places from the row's start

  // By all threads: for every step and lane.
  WT_DEVICE static void make_table(const StripsArguments& p, SharedAddress table) {
    for (i32 i = device::thread_index(); i < p.steps * kLanes * 4; i += kThreads) {
      const i32 place = i % 4, lane = i / 4 % kLanes, step = i / (4 * kLanes);
      i32 tap = strips_tap<kConfig.direction>(p, p.step_column[step] + lane % 4 + 4 * place, strips_output(lane / 4));
      if (tap < 0) tap = p.filter[2];
      device::store_shared(table + 2 * i, static_cast<u16>(tap * kChannels * 2));
    }
  }
  WT_DEVICE static Offsets offsets(SharedAddress table, i32 step) {
    return device::load_shared<Offsets>(table + (step * kLanes + device::lane_index()) * 8);
  }

  // By all threads: the weights of the block's channels.
  WT_DEVICE static void stage(const StripsArguments& p, i32 first_channel, SharedAddress to) {
    using Quad = Vector<u16, 4>;
    constexpr i32 kQuads = kChannels / 4, kBatch = 4;
    const auto* weights = static_cast<const Element*>(p.second);
    const i32 rows = p.filter[0] * p.filter[1], taps = rows * p.filter[2], width = p.filter[2] + 1;
    const i32 all = p.multiplier * kQuads * rows * width;
    for (i32 begin = device::thread_index(); begin < all; begin += kBatch * kThreads) {
      Quad held[kBatch];
      u32 at[kBatch];
      WT_UNROLL for (int b = 0; b < kBatch; ++b) {
        // Neighbouring threads take neighbouring taps, which lie side by side in memory.
        const i32 i = begin + b * kThreads, tap = i % width, row = i / width % rows, quad = i / width / rows % kQuads;
        const i32 multiple = i / width / rows / kQuads;
        at[b] = static_cast<u32>((((multiple * rows + row) * width + tap) * kChannels + quad * 4) * 2);
        WT_UNROLL for (int e = 0; e < 4; ++e) {
          const i32 channel = first_channel + quad * 4 + e;
          held[b].at[e] = 0;
          if (i < all && tap < p.filter[2] && channel < p.channels) {
            const i64 from = static_cast<i64>(channel * p.multiplier + multiple) * taps + row * p.filter[2] + tap;
            held[b].at[e] = device::load_global(weights + from).bits;
          }
        }
      }
      WT_UNROLL for (int b = 0; b < kBatch; ++b) {
        if (begin + b * kThreads < all) device::store_shared(to + at[b], held[b]);
      }
    }
  }
};

}  // namespace wt
