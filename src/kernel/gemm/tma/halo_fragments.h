// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/halo_fragments.h - operand A of narrow halo tiles in registers: a row of pixels is read once for the
// three rows of the filter (halo_kernel.h).
//
//   patch (shared) --ldmatrix--> rows of 8 pixels by 16 channels --pairs of rows--> A of wgmma, one pair a filter row
//
// WHY: with few columns, wgmma waits for shared memory, where it reads A anew for every tap: 64 x 16 numbers take 16
// cycles, the products of 40 columns 20 and the columns themselves 10. A warp's 16 rows of A are two rows of the
// patch, and below another row of the filter they are the next two: all of a warp's fragments lie below each other.
#pragma once

#include "kernel/gemm/tma/layout.h"
#include "target/target.h"

namespace wt {

// Fragments of one warp: 2 * kFragments rows of outputs, under one column of the filter, 16 channels.
template <int kFragments>
struct HaloFragments {
  static constexpr int kPitch = tma_layout::kHaloEdge + tma_layout::kHaloFilter - 1;
  static constexpr int kPairs = kFragments + 1;         // of rows of pixels, two of which are the halo's
  static constexpr int kOperands = 2 * kFragments + 1;  // pairs of neighbouring rows
  using Operand = u32[4];

  // The pixel that a lane names to ldmatrix, among those of the patch: of four matrices the first two are rows of
  // pixels, the others the same eight channels further on.
  struct Lane {
    i32 pixel, chunk;  // 16 bytes of its channels
  };
  WT_DEVICE static Lane lane_of(int part) {
    const int thread = device::thread_index() % 128, lane = thread % 32, row = thread / 32 * 2 * kFragments;
    return {(part * 8 * kFragments + row + lane / 8 % 2) * kPitch + lane % 8, lane / 16};
  }

  // `patch` is where the pixels of a box of channels lie, `column` one of the filter, `step` 16 channels.
  WT_DEVICE static void load(SharedAddress patch, const Lane& lane, int column, int step, Operand (&a)[kOperands]) {
    WT_UNROLL for (int pair = 0; pair < kPairs; ++pair) {
      const i32 pixel = lane.pixel + column + 2 * pair * kPitch;
      device::load_matrix<false>(a[2 * pair], patch + pixel * 128 + ((lane.chunk + 2 * step) ^ (pixel & 7)) * 16);
    }
    // The second row of a pair and the first of the next.
    WT_UNROLL for (int i = 1; i < kOperands; i += 2) {
      a[i][0] = a[i - 1][1];
      a[i][1] = a[i + 1][0];
      a[i][2] = a[i - 1][3];
      a[i][3] = a[i + 1][2];
    }
  }
};

}  // namespace wt
