// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/device/sum.h - where the sums of rows_weight/device/kernel.h belong, and the launch that adds
// their parts.
//
//   workspace (parts, tiles, vectors of four) fp32 --part_sum.h--> dw
#pragma once

#include "kernels/device/gemm/part_sum.h"
#include "kernels/rows_weight/device/arguments.h"
#include "kernels/rows_weight/device/layout.h"

namespace wt {

// What a vector of a tile holds: two numbers of a word of the window, for two output channels.
struct RowsSums {
  i32 word;     // of the filter, as lanes count them
  i32 channel;  // the first
  bool exist;
};

template <KernelConfig kConfig>
WT_DEVICE RowsSums rows_sums(const RowsWeightArguments& p, i32 tile_m, i32 tile_n, int vector) {
  constexpr int kColumns = kConfig.gemm.tile.n;
  const int thread = vector % 128, j = vector / 128 % (kColumns / 8), fragment = vector / 128 / (kColumns / 8);
  RowsSums sums;
  sums.word = tile_m * rows_weight_layout::tile_words(kConfig) + fragment * 32 + thread / 32 * 8 + thread % 32 / 4;
  sums.channel = tile_n * kColumns + 8 * j + 2 * (thread % 4);
  sums.exist = sums.word < p.words && sums.channel < p.columns;
  return sums;
}

template <KernelConfig kConfig>
struct RowsWeightPlaces {
  using Params = RowsWeightArguments;
  static constexpr int kVectors = rows_weight_layout::tile_vectors(kConfig);

  WT_DEVICE static u32 tiles(const Params& p) { return static_cast<u32>(p.tiles_m * p.tiles_n); }
  WT_DEVICE static PartSums sums(const Params& p, u32 number, int vector) {
    const i32 tile_m = static_cast<i32>(number) / p.tiles_n, tile_n = static_cast<i32>(number) - tile_m * p.tiles_n;
    const RowsSums own = rows_sums<kConfig>(p, tile_m, tile_n, vector);
    const auto word = rows_weight_layout::word_of(p.filter_rows, p.row_words, own.exist ? own.word : 0);
    const auto by = static_cast<i32>(p.channels.by);
    PartSums sums;
    WT_UNROLL for (int i = 0; i < 2; ++i) {  // the word's numbers
      const i32 element = 2 * word.at - p.shift + i;
      const bool exists = own.exist && element >= 0 && element < p.run;
      const i32 column = static_cast<i32>(quotient(static_cast<u32>(exists ? element : 0), p.channels));
      const i32 few = element - column * by, columns = p.run / by;
      const i32 tap = (few * p.filter_rows + p.filter_rows - 1 - word.row) * columns + columns - 1 - column;
      WT_UNROLL for (int j = 0; j < 2; ++j) {  // of two output channels
        const i32 channel = own.channel + j;
        const i64 at = p.turned ? tap * p.columns + channel
                                : (static_cast<i64>(channel) * p.filter_rows + word.row) * p.run + element;
        sums.at[2 * i + j] = exists && channel < p.columns ? at : -1;
        sums.channel[2 * i + j] = p.turned ? few : channel;
      }
    }
    return sums;
  }
};

template <KernelConfig kConfig>
struct RowsWeightSum : PartSum<kConfig, RowsWeightPlaces<kConfig>> {};

}  // namespace wt
