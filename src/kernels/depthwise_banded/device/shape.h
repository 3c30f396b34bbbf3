// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_banded/device/shape.h - the sizes that a banded kernel is compiled for, and where its rows lie in
// shared memory.
//
// Freestanding: dispatch and the kernels read the same formulas.
#pragma once

#include "config/kernel_config.h"

namespace wt {

inline constexpr int kBandedRows = 16;      // strips of a matrix instruction
inline constexpr int kBandedPixels = 8;     // of a column block
inline constexpr int kBandedMaxFilter = 9;  // 8 outputs and their halo fit a window of 16 pixels
inline constexpr int kBandedMaxCube = 3;    // whose planes fit the registers

namespace banded {

constexpr int warps(const KernelConfig& config) { return config.direct.block_size / 32; }
constexpr int channels(const KernelConfig& config) { return warps(config) * config.direct.vector_in; }  // of a block
constexpr int pixel_bytes(const KernelConfig& config) { return channels(config) * 2; }
// Planes of the filter: in three dimensions it is a cube.
constexpr int depth(const KernelConfig& config) { return config.dims == 3 ? config.fixed.filter_h : 1; }
// Rows of the input that a step takes and columns from one output to the next; output rows in flight.
constexpr int step(const KernelConfig& config) { return config.fixed.stride_h; }
constexpr int phase_rows(const KernelConfig& config) {
  return (config.fixed.filter_h + step(config) - 1) / step(config);
}
// Rows of windows in shared memory that a step multiplies: of each plane, or of each phase of each row.
constexpr int step_rows(const KernelConfig& config) { return depth(config) * step(config) * step(config); }
// What one copy takes of a pixel. WHY less in three dimensions: networks there have odd multiples of four channels.
constexpr int chunk_bytes(const KernelConfig& config) { return config.dims == 3 ? 8 : 16; }
constexpr int window(int column_blocks) { return (column_blocks + 1) * kBandedPixels; }  // of a segment's row

// A row of input pixels of every segment of a group. WHY 8 more: the last pair of strips may hang over by a block.
constexpr int row_bytes(const KernelConfig& config, int column_blocks, int segments) {
  return (segments * window(column_blocks) + kBandedPixels) * pixel_bytes(config);
}
constexpr int out_bytes(const KernelConfig& config, int column_blocks, int segments) {
  return segments * column_blocks * kBandedPixels * pixel_bytes(config);
}
// Copies of a thread for a row of the input, and of the output.
constexpr int reads(const KernelConfig& config) {
  return kBandedRows * 2 * kBandedPixels * (pixel_bytes(config) / chunk_bytes(config)) / config.direct.block_size;
}
constexpr int writes(const KernelConfig& config) { return reads(config) / 2; }
// Whether a thread keeps in shared memory where its copies begin: beside the filter's planes there are no registers for
// that. WHY not always: 7x7 filters took a tenth longer on an H200.
constexpr bool offsets_in_shared(const KernelConfig& config) { return depth(config) > 1; }
constexpr int table_bytes(const KernelConfig& config) {
  return offsets_in_shared(config) ? (reads(config) + writes(config)) * config.direct.block_size * 4 : 0;
}

// What strips that do not exist read in place of dy; and a matrix for each channel of a warp, for the sums of its
// diagonals.
inline constexpr int kZeroBytes = 16;
inline constexpr int kMatrixPitch = 9;
constexpr int matrix_bytes(const KernelConfig& config) {
  return warps(config) * config.direct.vector_in * kBandedRows * kMatrixPitch * 4;
}

// Whether rows come and go by tensor maps.
constexpr bool in_bulk(const KernelConfig& config) { return config.direct.bulk_rows; }
inline constexpr int kBulkOut = 3;       // staged rows
inline constexpr int kBulkAlign = 1024;  // where the swizzle of a row begins

// A ring of input rows, one of every plane that the filter reaches, and two rows of output on their way; backward
// weight has a ring of rows of x and dy.
constexpr int shared_bytes(const KernelConfig& config, int column_blocks, int segments) {
  const int row = step_rows(config) * row_bytes(config, column_blocks, segments);
  const int out = out_bytes(config, column_blocks, segments);
  const int table = table_bytes(config);
  if (in_bulk(config)) return kBulkAlign + config.direct.prefetch * (row + 8) + kBulkOut * out;
  if (config.direction != Direction::kBackwardWeight) return table + config.direct.prefetch * row + 2 * out;
  const int ring = config.direct.prefetch * (row + out);
  return table + kZeroBytes + (ring > matrix_bytes(config) ? ring : matrix_bytes(config));
}

}  // namespace banded

}  // namespace wt
