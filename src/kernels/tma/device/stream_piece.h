// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/stream_piece.h - a piece of a tile that stream-K has cut leaves the registers.
//
//   accumulators of a warpgroup --> slot of the workspace (tile.m, tile.n) fp32 --> stream_sum.h
#pragma once

#include "target/hopper.h"

namespace wt {

// One fragment of 64 rows, the first one `first_row` of the tile, to slot `slot`, as it lies in the tile.
template <int kTileM, int kTileN>
WT_DEVICE void store_piece(float* partials, i32 slot, int first_row, const float (&d)[kTileN / 2]) {
  const int thread = device::thread_index() % 128, lane = thread % 32;
  float* piece = partials + static_cast<i64>(slot) * (kTileM * kTileN) + 2 * (lane % 4);
  WT_UNROLL for (int half = 0; half < 2; ++half) {
    const int row = first_row + thread / 32 * 16 + lane / 4 + 8 * half;
    WT_UNROLL for (int j = 0; j < kTileN / 8; ++j) {
      device::store_global(reinterpret_cast<Vector<float, 2>*>(piece + row * kTileN + 8 * j),
                           Vector<float, 2>{{d[4 * j + 2 * half], d[4 * j + 2 * half + 1]}});
    }
  }
}

}  // namespace wt
