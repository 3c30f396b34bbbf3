// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/transpose_arguments.h - the parameter block of transpose.h.
#pragma once

#include "target/types.h"

namespace wt {

inline constexpr int kTransposeThreads = 256;

// Rows and columns of a tile, for elements of so many bytes.
constexpr int transpose_edge(int bytes) { return bytes == 1 ? 128 : 64; }

inline constexpr const char* kTurnSuffix = "_turn";  // of the entry that turns a kernel's filter round before it

// Dynamic shared memory: lines of words, one more than the edge, in each of which the elements of a column lie that
// fit.
constexpr int transpose_shared_bytes(int bytes) { return transpose_edge(bytes) * bytes * (transpose_edge(bytes) + 1); }

struct TransposeArguments {
  const void* in;  // (batch, rows, columns)
  void* out;       // (batch, columns, pitch), of which `rows` are written
  i64 rows, columns, pitch;
  i64 tiles_rows, tiles_columns;  // of one matrix
  i64 tiles;                      // of all
};

}  // namespace wt
