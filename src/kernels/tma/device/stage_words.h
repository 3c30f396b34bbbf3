// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/stage_words.h - accumulators on their way to shared memory as 32-bit outputs.
//
//   a fragment's boxes of 32 columns: rows of 128 bytes in the 128-byte swizzle, which bulk stores read
//
// A residual that was copied to the same places is added there.
#pragma once

#include "kernels/device/epilogue.h"
#include "kernels/tma/device/layout.h"
#include "target/hopper.h"

namespace wt {

// Where a 32-bit number of a box lies, `column` of its 32.
WT_DEVICE SharedAddress word_place(SharedAddress box, int row, int column) {
  return box + row * 128 + (column / 4 ^ row % 8) * 16 + column % 4 * 4;
}

// Columns kFirst to kEnd of a fragment of 64 rows, whose accumulators lie as TmaOutput says; the first box is at
// `staging`. `left` of the tile's columns exist, the first one's channel is `channel`. Their number is even where an
// epilogue asks for it, because rows are whole vectors.
template <KernelConfig kConfig, int kFirst, int kEnd, class Arguments, class Rows, class Steps, int kSums>
WT_DEVICE void stage_words(const Arguments& p, const Rows& rows, i32 left, i64 channel, const float (&d)[kSums],
                           Steps& steps, SharedAddress staging) {
  using Pair = Vector<typename Steps::Element, 2>;
  static_assert(sizeof(Pair) == 8 && kFirst % 32 == 0 && kEnd % 8 == 0);
  constexpr EpilogueConfig kSteps = kConfig.epilogue;
  constexpr bool kCopied = tma_layout::copies_residual(kConfig);
  constexpr bool kBounded =
      kSteps.scale || kSteps.bias || tma_layout::placed_steps(kConfig).placed() || kSteps.amax;
  const int thread = device::thread_index() % 128, lane = thread % 32, row = thread / 32 * 16 + lane / 4;
  bool inside[2] = {true, true};
  i64 offset[2] = {0, 0};
  if constexpr (kBounded) {
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const i64 start = rows.offset(row + 8 * half);
      inside[half] = start >= 0;
      offset[half] = start + channel;
    }
  }
  WT_UNROLL for (int block = kFirst / 8; block < kEnd / 8; ++block) {
    const i32 column = 8 * block + 2 * (lane % 4);
    const SharedAddress box = staging + (block / 4 - kFirst / 32) * (64 * 128);
    WT_UNROLL for (int half = 0; half < 2; ++half) {
      const SharedAddress address = word_place(box, row + 8 * half, column % 32);
      const int sum = 4 * block + 2 * half;
      const i64 at = offset[half] + column, at_channel = channel + column;
      Pair pair{};
      if (kBounded && (!inside[half] || column >= left)) {
        // Zeros, which bulk stores drop.
      } else if constexpr (kCopied) {
        const Pair residual = device::load_shared<Pair>(address);
        WT_UNROLL for (int i = 0; i < 2; ++i) {
          pair.at[i] = steps.apply(p.epilogue, d[sum + i], Steps::scale_of(p.epilogue, at_channel + i),
                                   Steps::bias_of(p.epilogue, at_channel + i), device::to_float(residual.at[i]), at + i);
        }
      } else {
        pair = steps.template apply_run<2>(p.epilogue, {d[sum], d[sum + 1]}, at, at_channel);
      }
      device::store_shared(address, pair);
    }
  }
}

}  // namespace wt
