// SPDX-License-Identifier: Apache-2.0
// kernels/groups/device/shape.h - the sizes that a kernel for small groups is compiled for, and its shared memory.
//
// Freestanding: constraints, dispatch and the kernels read the same formulas. A bundle is what one matrix instruction
// takes together: a group of 8, 16, 24 or 32 channels, or several narrower ones side by side. A position is a column of
// the walked image: an output pixel forward, `stride` neighbouring pixels of dx backward.
#pragma once

#include "config/kernel_config.h"

namespace wt {

inline constexpr int kChunkChannels = 8;   // of 16 bits: a row of the matrices that ldmatrix reads
inline constexpr int kTilePositions = 16;  // of a matrix instruction

namespace groups {

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

// Of a warp; AMD's CDNA has 64.
constexpr int lanes(const KernelConfig& config) {
  const Target target = config.target;
  return target == Target::kGfx90a || target == Target::kGfx942 || target == Target::kGfx950 ? 64 : 32;
}
// Output channels of a matrix instruction.
constexpr int instruction_outputs(const KernelConfig& config) { return is_amd(config.target) ? 16 : 8; }

constexpr int bundle(const KernelConfig& config) { return config.direct.vector_in; }         // channels
constexpr int warp_outputs(const KernelConfig& config) { return config.direct.vector_out; }  // channels, of one bundle
constexpr int channels(const KernelConfig& config) { return 64 / bundle(config) * bundle(config); }  // of a block
constexpr int chunks(const KernelConfig& config) { return channels(config) / kChunkChannels; }
constexpr int channel_warps(const KernelConfig& config) { return channels(config) / warp_outputs(config); }
constexpr int position_warps(const KernelConfig& config) {
  return config.direct.block_size / lanes(config) / channel_warps(config);
}
constexpr int warp_tiles(const KernelConfig& config) {
  return config.direct.tile_w / kTilePositions / position_warps(config);
}

// Rows and columns of the input and of the output that one position or step has.
constexpr bool is_data(const KernelConfig& config) { return config.direction == Direction::kBackwardData; }
constexpr int in_rows(const KernelConfig& config) { return is_data(config) ? 1 : config.fixed.stride_h; }
constexpr int in_cols(const KernelConfig& config) { return is_data(config) ? 1 : config.fixed.stride_w; }
constexpr int out_rows(const KernelConfig& config) { return is_data(config) ? config.fixed.stride_h : 1; }
constexpr int out_cols(const KernelConfig& config) { return is_data(config) ? config.fixed.stride_w : 1; }
// Rows and columns of positions that one output position meets.
constexpr int reach_rows(const KernelConfig& config) { return ceil_div(config.fixed.filter_h, config.fixed.stride_h); }
constexpr int reach_cols(const KernelConfig& config) { return ceil_div(config.fixed.filter_w, config.fixed.stride_w); }

// Bytes from one position to the next. WHY odd chunks: the eight pixels of a matrix then lie in different banks.
constexpr int pitch(const KernelConfig& config, int cols) { return ((cols * chunks(config)) | 1) * 16; }

// Positions of an input row of a segment, and the most that a block's segments have together.
constexpr int window(const KernelConfig& config, int columns) { return columns + reach_cols(config) - 1; }
constexpr int most_positions(const KernelConfig& config) { return config.direct.tile_w + 32; }

// Backward weight: zeros behind each row, where positions that do not exist are read.
constexpr int in_row_bytes(const KernelConfig& config, int positions) {
  const int zeros = config.direction == Direction::kBackwardWeight ? reach_cols(config) : 0;
  return (positions + zeros) * pitch(config, in_cols(config));
}
constexpr int out_row_bytes(const KernelConfig& config) {
  const int zeros = config.direction == Direction::kBackwardWeight ? 1 : 0;
  return (config.direct.tile_w + zeros) * pitch(config, out_cols(config));
}

// The filter of a block's channels: a row for each output channel, of taps x bundle. On AMD lanes read their part of it
// from global memory.
constexpr int filter_pitch(const KernelConfig& config) {
  return ((config.fixed.filter_h * config.fixed.filter_w * bundle(config) / kChunkChannels) | 1) * 16;
}
constexpr int filter_bytes(const KernelConfig& config) {
  return is_amd(config.target) ? 0 : channels(config) * filter_pitch(config);
}

// A step's rows of the ring; backward weight has a row of dy beside those of x.
constexpr int stage_bytes(const KernelConfig& config, int positions) {
  const int rows = in_rows(config) * in_row_bytes(config, positions);
  return config.direction == Direction::kBackwardWeight ? rows + out_row_bytes(config) : rows;
}
constexpr int shared_bytes(const KernelConfig& config, int positions) {
  const int ring = config.direct.prefetch * stage_bytes(config, positions);
  if (config.direction == Direction::kBackwardWeight) return ring;
  return filter_bytes(config) + ring + 2 * out_rows(config) * out_row_bytes(config);
}

}  // namespace groups

}  // namespace wt
