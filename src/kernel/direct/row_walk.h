// SPDX-License-Identifier: Apache-2.0
// kernel/direct/row_walk.h - which rows a block of the matrix designs walks, one after the other.
#pragma once

#include "target/target.h"

namespace wt {

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
