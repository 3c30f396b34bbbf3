// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/transpose.h - matrices turned round: between channels-first and channels-last tensors, and
// their filters.
//
//   global rows --> tile (shared) --> global columns
//
// Elements are moved, not read, so that the size is all that matters. Two neighbours are moved at a time where rows and
// columns let them.
#pragma once

#include "kernels/beside/device/transpose_arguments.h"
#include "kernels/device/raw.h"
#include "target/role.h"

namespace wt {

// kWaited: the launch behind may start early, and waits for this one by itself (kernels/tma/device/roles.h).
template <int kBytes, bool kWaited = false>
struct Transpose {
  using Params = TransposeArguments;
  using Element = typename RawOf<kBytes>::Type;
  static constexpr int kThreads = kTransposeThreads;
  static constexpr int kMinBlocks = 1;

  WT_DEVICE static void run(const Params& p) {
    if constexpr (kWaited) device::launch_dependents();
    const SharedAddress tile = device::shared_base();
    for (i64 index = device::block_index().x; index < p.tiles; index += device::grid_size().x) {
      const i64 line = index / p.tiles_columns, matrix = line / p.tiles_rows;
      const i64 row = (line - matrix * p.tiles_rows) * kEdge, column = (index - line * p.tiles_columns) * kEdge;
      const i64 first = matrix * p.rows * p.columns;
      load(p, tile, first + row * p.columns + column, p.rows - row, p.columns - column);
      device::sync_block();
      store(p, tile, first + column * p.rows + row, p.rows - row, p.columns - column);
      device::sync_block();  // the next tile comes to the same place
    }
  }

 private:
  static constexpr int kEdge = kTransposeEdge;
  // WHY one word more than the tile: the elements of a column then lie in different banks.
  static constexpr int kPitch = kEdge + (kBytes < 4 ? 4 / kBytes : 1);
  static constexpr int kPair = kBytes < 4 ? 2 : 1;
  using Pair = Vector<Element, kPair>;

  WT_DEVICE static SharedAddress at(SharedAddress tile, int row, int column) {
    return tile + static_cast<u32>((row * kPitch + column) * kBytes);
  }

  WT_DEVICE static void load(const Params& p, SharedAddress tile, i64 first, i64 rows, i64 columns) {
    const auto* in = static_cast<const Element*>(p.in) + first;
    const bool paired = p.columns % kPair == 0;
    constexpr int kSteps = kEdge / kPair;
    WT_UNROLL_FEW for (int i = device::thread_index(); i < kEdge * kSteps; i += kThreads) {
      const int row = i / kSteps, column = i % kSteps * kPair;
      if (row >= rows || column >= columns) continue;
      const Element* from = in + row * p.columns + column;
      if (paired) {
        device::store_shared(at(tile, row, column), device::load_global(reinterpret_cast<const Pair*>(from)));
      } else {
        WT_UNROLL for (int j = 0; j < kPair; ++j) {
          if (column + j < columns) device::store_shared(at(tile, row, column + j), device::load_global(from + j));
        }
      }
    }
  }

  WT_DEVICE static void store(const Params& p, SharedAddress tile, i64 first, i64 rows, i64 columns) {
    auto* out = static_cast<Element*>(p.out) + first;
    const bool paired = p.rows % kPair == 0;
    constexpr int kSteps = kEdge / kPair;
    WT_UNROLL_FEW for (int i = device::thread_index(); i < kEdge * kSteps; i += kThreads) {
      const int column = i / kSteps, row = i % kSteps * kPair;
      if (row >= rows || column >= columns) continue;
      Pair pair{};
      WT_UNROLL for (int j = 0; j < kPair; ++j) {
        if (row + j < rows) pair.at[j] = device::load_shared<Element>(at(tile, row + j, column));
      }
      Element* to = out + column * p.rows + row;
      if (paired) {
        device::store_global(reinterpret_cast<Pair*>(to), pair);
      } else {
        WT_UNROLL for (int j = 0; j < kPair; ++j) {
          if (row + j < rows) device::store_global(to + j, pair.at[j]);
        }
      }
    }
  }
};

}  // namespace wt
