// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/parted_rows.h - a consumer's rows of A on their way through registers, as sums of two tf32.
//
//   box of fp32 in shared memory --ldmatrix--> wgmma's fragment of tf32 --tf32_parts--> high and low parts
//
// A matrix of 8x8 16-bit numbers is one of 8x4 32-bit ones, whose element a lane gets is that of the fragment.
#pragma once

#include "kernels/tma/device/remainder.h"

namespace wt {

// 64 rows by 8 numbers: register i of a lane has row 16 * warp + lane / 4 + 8 * (i % 2), number lane % 4 + 4 * (i / 2).
struct PartedRows {
  u32 high[4], low[4];

  // Of the rows that start at `rows`, as long as a swizzle span each, the numbers of the step-th product.
  template <int kSwizzle>
  WT_DEVICE void load(SharedAddress rows, int step) {
    constexpr int kChunks = kSwizzle / 16;
    const int thread = device::thread_index() % 128, lane = thread % 32, row = thread / 32 * 16 + lane % 16;
    const int turned = row * kSwizzle / 128 % kChunks;  // by the swizzle
    u32 words[4];
    device::load_matrix<false>(words, rows + row * kSwizzle + ((2 * step + lane / 16) ^ turned) * 16);
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      const Tf32Parts parts = tf32_parts(__builtin_bit_cast(float, words[i]));
      high[i] = __builtin_bit_cast(u32, parts.high);
      low[i] = __builtin_bit_cast(u32, parts.low);
    }
  }
};

}  // namespace wt
