// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/turn.h - a box of numbers turned round in shared memory, for weight gradients of 32-bit types.
//
//   32 pixels of 32 channels --> 32 channels of 32 pixels, in place (and their low parts elsewhere: remainder.h)
//
// wgmma reads such types along k only, which is the pixels here, and they lie across it. Rows are 128 bytes in the
// 128-byte swizzle, before and after. By one warp: lane l reads channel l of every pixel, which is a whole row of the
// turned box. Neither its reads, 32 neighbouring words, nor its writes, 16 bytes of each row, meet in a bank.
#pragma once

#include "kernels/tma/device/remainder.h"

namespace wt {

inline constexpr int kTurnedBoxBytes = 32 * 128;

template <bool kParted>
WT_DEVICE void turn_box(SharedAddress box, SharedAddress low) {
  using Four = Vector<float, 4>;
  const int lane = device::lane_index();
  float row[32];
  WT_UNROLL for (int pixel = 0; pixel < 32; ++pixel) {
    const int chunk = lane / 4 ^ pixel % 8;
    row[pixel] = device::load_shared<float>(box + pixel * 128 + chunk * 16 + lane % 4 * 4);
  }
  device::sync_warp();  // all have read before one writes
  WT_UNROLL for (int j = 0; j < 8; ++j) {
    Four high, rest;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      const Tf32Parts parts = kParted ? tf32_parts(row[4 * j + i]) : Tf32Parts{row[4 * j + i], 0};
      high.at[i] = parts.high;
      rest.at[i] = parts.low;
    }
    const int place = lane * 128 + (j ^ lane % 8) * 16;
    device::store_shared(box + place, high);
    if constexpr (kParted) device::store_shared(low + place, rest);
  }
}

}  // namespace wt
