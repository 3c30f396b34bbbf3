// SPDX-License-Identifier: Apache-2.0
// kernel/direct/banded_shape.h - the sizes that a banded kernel is compiled for, and where its rows lie in shared
// memory.
//
// Freestanding: dispatch and the kernels read the same formulas.
#pragma once

#include "config/kernel_config.h"

namespace wt {

inline constexpr int kBandedRows = 16;      // strips of a matrix instruction
inline constexpr int kBandedPixels = 8;     // of a column block
inline constexpr int kBandedMaxFilter = 9;  // 8 outputs and their halo fit a window of 16 pixels

namespace banded {

constexpr int warps(const KernelConfig& config) { return config.direct.block_size / 32; }
constexpr int channels(const KernelConfig& config) { return warps(config) * config.direct.vector_in; }  // of a block
constexpr int pixel_bytes(const KernelConfig& config) { return channels(config) * 2; }
constexpr int window(int column_blocks) { return (column_blocks + 1) * kBandedPixels; }  // of a segment's row

// A row of input pixels of every segment of a group. WHY 8 more: the last pair of strips may hang over by a block.
constexpr int row_bytes(const KernelConfig& config, int column_blocks, int segments) {
  return (segments * window(column_blocks) + kBandedPixels) * pixel_bytes(config);
}
constexpr int out_bytes(const KernelConfig& config, int column_blocks, int segments) {
  return segments * column_blocks * kBandedPixels * pixel_bytes(config);
}
// What strips that do not exist read in place of dy; and a matrix a warp for the sums of its diagonals.
inline constexpr int kZeroBytes = 16;
inline constexpr int kMatrixPitch = 9;
constexpr int matrix_bytes(const KernelConfig& config) { return warps(config) * kBandedRows * kMatrixPitch * 4; }

// A ring of input rows, and two rows of output on their way; backward weight has a ring of rows of x and dy.
constexpr int shared_bytes(const KernelConfig& config, int column_blocks, int segments) {
  const int row = row_bytes(config, column_blocks, segments), out = out_bytes(config, column_blocks, segments);
  if (config.direction != Direction::kBackwardWeight) return config.direct.prefetch * row + 2 * out;
  const int ring = config.direct.prefetch * (row + out);
  return kZeroBytes + (ring > matrix_bytes(config) ? ring : matrix_bytes(config));
}

}  // namespace banded

}  // namespace wt
