// SPDX-License-Identifier: Apache-2.0
// kernels/device/direct/row_walk.h - which rows a block of the matrix designs walks, one after the other.
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
  // The block's place among those of its channels. WHY not kept from the start: a register, in kernels that have none
  // left.
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

// The rows of an image among its padded rows.
struct ImageRows {
  i32 pad, count;
  WT_DEVICE bool has(i32 row) const { return static_cast<u32>(row - pad) < static_cast<u32>(count); }
  WT_DEVICE i32 last() const { return pad + count - 1; }
};

// The same walk, which leaves out rows of padding before the image, and in weight gradients those after it.
template <int kFilterRows>
struct ImageWalk {
  i32 at, end;                         // not yet taken
  i32 group = 0, first = 0, stop = 0;  // of the item: its output rows
  i32 row = 1, last = 0;               // as above
  bool entered = false;                // the item has just begun; the caller clears it

  // Before the image the sums are zero, so that they begin where it does, or with the first complete row. WHY rows
  // after it are taken: with a branch around the products the compiler moves the sums in every step, and 7x7 filters
  // took a quarter longer.
  WT_DEVICE bool settle(i32 height, const ImageRows& image) {
    if (row > last && at < end) {
      enter(height);
      const i32 complete = first + kFilterRows - 1;
      row = image.pad < first ? first : image.pad < complete ? image.pad : complete;
      last = stop + kFilterRows - 2;
    }
    return row <= last;
  }
  // The same without rows after the image, as far as outputs are complete or in flight with the last one.
  WT_DEVICE bool settle_inside(i32 height, const ImageRows& image) {
    if (row > last && settle(height, image)) {
      const i32 least = row < stop - 1 ? stop - 1 : row, inside = image.last() < least ? least : image.last();
      if (last > inside) last = inside;
    }
    return row <= last;
  }
  // In a weight gradient a row of dy comes with each row of x, at first with rows before the image. kClips: the walk
  // leaves out rows after it. WHY not always: a register, in kernels that have none left.
  template <bool kClips>
  WT_DEVICE bool settle_pairs(i32 height, const ImageRows& image) {
    while (row > last && at < end) {
      enter(height);
      row = first;
      last = stop + kFilterRows - 2;
      if (kClips && last > image.last()) last = image.last();
    }
    return row <= last;
  }
  template <bool kClips>
  WT_DEVICE bool has_pair() const {
    return kClips ? row < stop : row <= last - (kFilterRows - 1);
  }

 private:
  WT_DEVICE void enter(i32 height) {
    group = at / height;
    first = at % height;
    stop = first + end - at < height ? first + end - at : height;
    at += stop - first;
    entered = true;
  }
};

}  // namespace wt
