// SPDX-License-Identifier: Apache-2.0
// kernels/beside/device/transpose_arguments.h - the parameter block of transpose.h.
#pragma once

#include "target/types.h"

namespace wt {

inline constexpr int kTransposeThreads = 256, kTransposeEdge = 64;

inline constexpr const char* kTurnSuffix = "_turn";  // of the entry that turns a kernel's filter round before it

// Dynamic shared memory for elements of so many bytes: one word more than the edge in a row of the tile.
constexpr int transpose_shared_bytes(int bytes) {
  return kTransposeEdge * (kTransposeEdge + (bytes < 4 ? 4 / bytes : 1)) * bytes;
}

struct TransposeArguments {
  const void* in;  // (batch, rows, columns)
  void* out;       // (batch, columns, pitch), of which `rows` are written
  i64 rows, columns, pitch;
  i64 tiles_rows, tiles_columns;  // of one matrix
  i64 tiles;                      // of all
};

}  // namespace wt
