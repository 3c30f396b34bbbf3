// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/device/walk.h - which tile, which pixels and which taps: the address arithmetic of the load warps.
//
//   tile index -> phase, rows, columns;   row -> place in the image;   k -> tap and channel, walked by addition
#pragma once

#include "kernels/wavelet/device/arguments.h"
#include "kernels/wavelet/device/layout.h"
#include "target/target.h"

namespace wt {

// One tile of the output: pixels of one phase by columns of one group.
struct WaveletTile {
  u32 row, rows;  // first row, and how many the phase has
  i32 column, group;
  i32 phase[3];  // index of each dimension's phase
  i32 taps[3];   // runs along d, h, w
  i32 blocks;    // of tile.k numbers
};

template <KernelConfig kConfig>
WT_DEVICE WaveletTile wavelet_tile(const WaveletArguments<wavelet_layout::phases(kConfig)>& p, u32 index) {
  WaveletTile tile;
  const u32 group = quotient(index, p.tiles_a_group);
  index -= group * p.tiles_a_group.by;
  u32 m = quotient(index, p.tiles_n);
  tile.group = static_cast<i32>(group);
  tile.column = static_cast<i32>(index - m * p.tiles_n.by) * kConfig.gemm.tile.n;
  u32 phase = 0;
  if constexpr (wavelet_layout::walks_phases(kConfig)) {
    phase = quotient(m, p.tiles_a_phase);
    m -= phase * p.tiles_a_phase.by;
  }
  tile.row = m * kConfig.gemm.tile.m;
  tile.rows = static_cast<u32>(p.images);
  i32 runs = 1;
  WT_UNROLL for (int i = 2; i >= 0; --i) {
    tile.phase[i] = i;
    if constexpr (wavelet_layout::walks_phases(kConfig)) {
      const u32 next = quotient(phase, p.phase_count[i]);
      tile.phase[i] = p.first_phase[i] + static_cast<i32>(phase - next * p.phase_count[i].by);
      phase = next;
    }
    const WaveletPhase& at = p.phases[tile.phase[i]];
    tile.rows *= at.size.by;
    tile.taps[i] = i == 2 && p.row_is_one_run ? (at.taps > 0 ? 1 : 0) : at.taps;
    runs *= tile.taps[i];
  }
  tile.blocks = (runs * p.run.length + kConfig.gemm.tile.k - 1) / kConfig.gemm.tile.k;
  // WHY: pixels that no tap reaches get one block of zeros. A branch around the products that clears the accumulators
  // instead costs ptxas all its registers.
  if (wavelet_layout::walks_phases(kConfig) && runs == 0) {
    tile.blocks = 1;
    tile.taps[0] = 0;
    tile.taps[1] = tile.taps[2] = 1;
  }
  return tile;
}

// Where a row's pixel lies in the image under the first tap, and that place as an offset. All in one 16-byte access.
struct alignas(16) WaveletRow {
  i32 offset;
  i32 at[3];  // d, h, w
};
static_assert(sizeof(WaveletRow) == wavelet_layout::kRowBytes);

inline constexpr i32 kOutside = -(1 << 30);  // a position that no tap brings back into the image

template <int kPhases>
WT_DEVICE WaveletRow wavelet_row(const WaveletArguments<kPhases>& p, const WaveletTile& tile, u32 row) {
  WaveletRow result;
  if (row >= tile.rows) return {0, {kOutside, kOutside, kOutside}};
  WT_UNROLL for (int i = 2; i >= 0; --i) {
    const WaveletPhase& phase = p.phases[tile.phase[i]];
    const u32 next = quotient(row, phase.size);
    result.at[i] = phase.start + static_cast<i32>(row - next * phase.size.by) * p.step[i];
    row = next;
  }
  result.offset = static_cast<i32>(row) * p.image_stride[0] + result.at[0] * p.image_stride[1] +
                  result.at[1] * p.image_stride[2] + result.at[2];
  return result;
}

// Where a row's pixel lies in the output.
template <int kPhases>
WT_DEVICE i64 wavelet_out(const WaveletArguments<kPhases>& p, const WaveletTile& tile, u32 row) {
  i32 offset = 0;
  WT_UNROLL for (int i = 2; i >= 0; --i) {
    const WaveletPhase& phase = p.phases[tile.phase[i]];
    const u32 next = quotient(row, phase.size);
    offset += phase.out + static_cast<i32>(row - next * phase.size.by) * p.out_step[i + 1];
    row = next;
  }
  return offset + static_cast<i32>(row) * p.out_step[0];
}

// A place in the sum: a run, by the index of its tap in each dimension, and a number of it.
struct WaveletCursor {
  i32 number;
  i32 tap[3];

  WT_DEVICE bool ended(const WaveletTile& tile) const { return tap[0] >= tile.taps[0]; }

  WT_DEVICE void move(i32 numbers, const i32 (&taps)[3], i32 length, const WaveletTile& tile) {
    number += numbers;
    i32 carry = number >= length;
    if (carry) number -= length;
    WT_UNROLL for (int i = 2; i > 0; --i) {
      tap[i] += taps[i] + carry;
      carry = tap[i] >= tile.taps[i];
      if (carry) tap[i] -= tile.taps[i];
    }
    tap[0] += taps[0] + carry;
  }
  // By numbers that end at most one run.
  WT_DEVICE void step(i32 numbers, i32 length, const WaveletTile& tile) {
    constexpr i32 kNone[3] = {0, 0, 0};
    move(numbers, kNone, length, tile);
  }
};

// The run with this index as taps of each dimension.
WT_DEVICE void split_runs(i32 runs, const WaveletTile& tile, i32 (&tap)[3]) {
  WT_UNROLL for (int i = 2; i > 0; --i) {
    if (runs == 0) {  // WHY: most problems have long runs, and a division costs more than this branch
      tap[i] = 0;
      continue;
    }
    const u32 next = static_cast<u32>(runs) / static_cast<u32>(tile.taps[i]);
    tap[i] = runs - static_cast<i32>(next) * tile.taps[i];
    runs = static_cast<i32>(next);
  }
  tap[0] = runs;
}

// A thread's cursor over a tile: starts at number k and moves on by tile.k.
struct WaveletWalk {
  WaveletCursor at;
  i32 taps[3];  // of one advance

  template <int kPhases>
  WT_DEVICE void start(const WaveletArguments<kPhases>& p, const WaveletTile& tile, i32 k) {
    const i32 runs = k < p.run.length ? 0 : static_cast<i32>(static_cast<u32>(k) / static_cast<u32>(p.run.length));
    at.number = k - runs * p.run.length;
    split_runs(runs, tile, at.tap);
    split_runs(p.advance.runs, tile, taps);
  }
  template <int kPhases>
  WT_DEVICE void next(const WaveletArguments<kPhases>& p, const WaveletTile& tile) {
    at.move(p.advance.numbers, taps, p.run.length, tile);
  }
};

}  // namespace wt
