// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/rows/weight_sum.h - adds the partial sums of rows/weight_kernel.h in a fixed order, then the epilogue.
//
//   workspace (parts, tiles, vectors of four) fp32 --sum, epilogue--> dw
//
// The second launch; it takes the same parameter block. dw is small and its parts are many, so the threads of a block
// share a vector's parts.
#pragma once

#include "kernel/direct/overlap.h"
#include "kernel/epilogue.h"
#include "kernel/gemm/rows/weight_arguments.h"
#include "kernel/gemm/rows/weight_layout.h"

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
struct RowsWeightSum {
  using Params = RowsWeightArguments;
  static constexpr int kThreads = rows_weight_layout::kSumThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    const int thread = device::thread_index(), lane = thread % kLanes, slice = thread / kLanes;
    const i64 place = static_cast<i64>(device::block_index().x) * kLanes + lane;
    const auto tile = static_cast<i32>(place / kVectors);
    const auto vector = static_cast<i32>(place - static_cast<i64>(tile) * kVectors);
    const RowsSums sums = rows_sums<kConfig>(p, tile / p.tiles_n, tile % p.tiles_n, vector);
    wait_for_parts<kConfig>();
    Four total{};
    if (sums.exist) total = add_slice(p, place, slice);
    // A tree, always of the same shape.
    const SharedAddress base = device::shared_base();
    WT_UNROLL for (int half = kSlices / 2; half > 0; half /= 2) {
      if (slice >= half && slice < 2 * half) device::store_shared(base + 16 * thread, total);
      device::sync_block();
      if (slice < half) add(total, device::load_shared<Four>(base + 16 * (thread + half * kLanes)));
    }
    if (slice > 0 || !sums.exist) return;
    store(p, sums, total);
  }

 private:
  using Four = Vector<float, 4>;
  using Steps = Epilogue<kConfig.epilogue, output_type(kConfig)>;
  using Element = typename Steps::Element;
  static constexpr int kVectors = rows_weight_layout::tile_vectors(kConfig);
  static constexpr int kLanes = rows_weight_layout::sum_vectors(kConfig), kSlices = kThreads / kLanes;
  static constexpr int kBatch = 9;  // loads in flight: 16 slices have 132 parts at once, 8 in two rounds

  WT_DEVICE static void add(Four& total, const Four& part) {
    WT_UNROLL for (int i = 0; i < 4; ++i) total.at[i] += part.at[i];
  }

  // Parts slice, slice + kSlices, ..
  WT_DEVICE static Four add_slice(const Params& p, i64 place, i32 slice) {
    const auto* from = reinterpret_cast<const Four*>(p.partials) + place;
    const i64 step = static_cast<i64>(p.tiles_m) * p.tiles_n * kVectors;
    Four total{};
    for (i32 first = slice; first < p.parts; first += kSlices * kBatch) {
      Four part[kBatch];
      WT_UNROLL for (int i = 0; i < kBatch; ++i) {
        const i32 index = first + i * kSlices;
        part[i] = index < p.parts ? device::load_global(from + index * step) : Four{};
      }
      WT_UNROLL for (int i = 0; i < kBatch; ++i) add(total, part[i]);
    }
    return total;
  }

  struct Place {
    i64 at, channel;  // of dw
  };
  WT_DEVICE static Place turned_place(const Params& p, i64 channel, i32 row, i32 element) {
    const auto column = static_cast<i32>(quotient(static_cast<u32>(element), p.channels));
    const auto by = static_cast<i32>(p.channels.by), few = element - column * by, columns = p.run / by;
    const i64 tap = (static_cast<i64>(few) * p.filter_rows + p.filter_rows - 1 - row) * columns + columns - 1 - column;
    return {tap * p.columns + channel, few};
  }

  WT_DEVICE static void store(const Params& p, const RowsSums& sums, const Four& total) {
    Steps steps;
    const auto word = rows_weight_layout::word_of(p.filter_rows, p.row_words, sums.word);
    const i32 row = word.row, first = 2 * word.at - p.shift;
    WT_UNROLL for (int i = 0; i < 4; ++i) {
      const i32 element = first + i / 2;
      const i64 channel = sums.channel + i % 2;
      if (element < 0 || element >= p.run || channel >= p.columns) continue;
      const Place place = p.turned ? turned_place(p, channel, row, element)
                                   : Place{(channel * p.filter_rows + row) * p.run + element, channel};
      Steps::write(static_cast<Element*>(p.dw) + place.at,
                   steps.apply(p.epilogue, total.at[i], place.at, place.channel));
    }
    steps.finish(p.epilogue);
  }
};

}  // namespace wt
