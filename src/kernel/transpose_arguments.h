// SPDX-License-Identifier: Apache-2.0
// kernel/transpose_arguments.h - the parameter block of transpose.h.
#pragma once

#include "target/types.h"

namespace wt {

inline constexpr int kTransposeThreads = 256, kTransposeEdge = 64;

struct TransposeArguments {
  const void* in;  // (batch, rows, columns)
  void* out;       // (batch, columns, rows)
  i64 rows, columns;
  i64 tiles_rows, tiles_columns;  // of one matrix
  i64 tiles;                      // of all
};

}  // namespace wt
