// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/join_rows_arguments.h - the parameter blocks of join_rows.h and add_rows.h.
//
// A row is one step of the outermost dimension of an image: everything in it lies together. Where channels lie apart,
// each of them is an image of its own.
#pragma once

#include "target/types.h"

namespace wt {

inline constexpr int kRowThreads = 256;

struct JoinRowsArguments {
  const void* history;
  const void* x;
  void* out;
  i64 images, units;             // units of one row: elements, or 16 bytes of neighbouring ones
  i64 length, x_rows, out_rows;  // rows of an image of each
  i64 first, count;              // rows of history and x joined that are copied, to the first of `out`
  i64 rows_of_thread, strips;    // strips of an image
};

struct AddRowsArguments {
  const void* from;
  void* to;
  i64 images, elements;  // of one row
  i64 from_rows, to_rows;
  i64 from_first, to_first, count;
};

}  // namespace wt
