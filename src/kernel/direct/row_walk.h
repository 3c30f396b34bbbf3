// SPDX-License-Identifier: Apache-2.0
// kernel/direct/row_walk.h - which rows a block of the matrix designs walks, one after the other.
#pragma once

#include "target/target.h"

namespace wt {

// The rows of a block: ranges of rows follow each other in the grid's x, and the blocks of a range in its y.
struct RowRange {
  i32 first, end;

  template <class Params>
  WT_DEVICE static RowRange make(const Params& p) {
    const i32 begin = device::block_index().x / p.channel_blocks * p.range_rows;
    const i32 first = begin + device::block_index().y * p.rows_per_block;
    i32 end = first + p.rows_per_block;
    if (end > begin + p.range_rows) end = begin + p.range_rows;
    return {first, end < p.rows ? end : p.rows};
  }
  // Of the block among those of its channels. WHY not kept from the start: a register, in kernels that have none left.
  template <class Params>
  WT_DEVICE static i32 index(const Params& p) {
    return device::block_index().x / p.channel_blocks * device::grid_size().y + device::block_index().y;
  }
};

// Output rows [at, end) over all groups of segments: an item for each group that they touch, each item with the halo of
// its first row.
template <int kFilterRows>
struct RowWalk {
  i32 at, end;            // not yet taken
  i32 group = 0;          // of the item
  i32 first = 0;          // output row of the item
  i32 row = 1, last = 0;  // input rows, counted from the padded edge: those of the item not yet taken

  // True where there is a row to take, which is then `row`.
  WT_DEVICE bool settle(i32 height) {
    if (row > last && at < end) {
      group = at / height;
      first = at % height;
      const i32 stop = first + end - at < height ? first + end - at : height;
      at += stop - first;
      row = first;
      last = stop - 1 + kFilterRows - 1;
    }
    return row <= last;
  }
};

}  // namespace wt
