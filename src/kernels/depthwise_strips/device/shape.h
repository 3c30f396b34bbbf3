// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/device/shape.h - what a strips kernel is compiled for, and where things lie in shared
// memory.
//
//   table of taps | line of zeros | weights or their gradient | places of strips | tasks | staged output | tiles
//
// Freestanding: dispatch and the kernels read the same formulas.
#pragma once

#include "config/kernel_config.h"

namespace wt::strips {

inline constexpr int kRows = 16;         // strips of a matrix instruction
inline constexpr int kColumns = 8;       // outputs of a strip
inline constexpr int kWindow = 16;       // pixels of a step
inline constexpr int kWarpChannels = 4;  // a warp's
inline constexpr int kPlaceBytes = 16;   // of a strip's place
inline constexpr int kTaskBytes = 32;    // of what a class does with a plane, phase and step
inline constexpr int kMatrixPitch = 9;   // of a matrix of sums, whose diagonals are added

constexpr int warps(const KernelConfig& config) { return config.direct.block_size / 32; }
constexpr int channels(const KernelConfig& config) { return config.direct.block_channels; }
// Warps that have the same strips and other channels; and matrices of strips that a block multiplies at a time.
constexpr int channel_warps(const KernelConfig& config) { return channels(config) / kWarpChannels; }
constexpr int matrices(const KernelConfig& config) { return warps(config) / channel_warps(config); }
// Strips two by two are neighbours whose windows lie 8 pixels apart, so that they share pixels.
constexpr bool shares_pixels(const KernelConfig& config) { return config.fixed.stride_w == 1; }
// One output channel of each input channel, and in backward data 2 or 4; else their number is a run-time value.
constexpr bool single(const KernelConfig& config) { return config.direct.group_channels == 1; }
constexpr bool is_weight(const KernelConfig& config) { return config.direction == Direction::kBackwardWeight; }
// Neighbouring channels of dy that one of dx is the sum of, where that is compiled in: the block's channels are dy's
// then, and their multiplier is 1.
constexpr int fold(const KernelConfig& config) {
  return config.direction == Direction::kBackwardData && config.direct.group_channels > 1 ? config.direct.group_channels
                                                                                          : 1;
}
// Where channels of the output follow each other `multiplier` apart: dy is read so, and y is written so.
constexpr bool reads_apart(const KernelConfig& config) {
  return config.direct.group_channels == 0 && config.direction == Direction::kBackwardData;
}

// Bytes of a pixel of the tile, and of one of the output (dy in backward weight).
constexpr int in_bytes(const KernelConfig& config, int multiplier) {
  return channels(config) * 2 * (reads_apart(config) ? multiplier : 1);
}
constexpr int out_bytes(const KernelConfig& config, int multiplier) {
  return channels(config) * 2 / fold(config) * (config.direction == Direction::kBackwardData ? 1 : multiplier);
}

// The 16 bytes `unit` of pixel `pixel` of a line, whose pixels have kUnits each: turned so that the eight strips that a
// warp reads spread over the banks. WHY these bits: the strips of a warp lie 16 pixels apart, in backward weight 32.
template <int kUnits>
constexpr int turned_unit(int pixel, int unit) {
  const int strip = (pixel >> 4 ^ pixel >> 5) & 1;
  if constexpr (kUnits <= 1) return pixel ^ strip << 2;
  if constexpr (kUnits == 2) return (pixel * 2 + unit) ^ strip;
  if constexpr (kUnits == 4) return (pixel * 4 + unit) ^ ((pixel >> 1 & 1) | strip << 1);
  if constexpr (kUnits == 8) return (pixel * 8 + unit) ^ ((pixel & 3) | strip << 2);
  return pixel * kUnits + unit;
}

constexpr int round_up(int value, int step) { return (value + step - 1) / step * step; }

// Sizes of a launch that decide where things lie.
struct Sizes {
  int steps, line_pixels, filter_rows, filter_w, multiplier;
  int matrices;               // of strips in a tile
  int tasks;                  // of all classes
  int tile_lines;             // of a buffer
  int out_lines, out_pixels;  // of dy beside them, in backward weight
};

constexpr long long table_bytes(const Sizes& s) { return s.steps * 32LL * 8; }
constexpr long long line_bytes(const KernelConfig& config, const Sizes& s) {
  return round_up(s.line_pixels * in_bytes(config, s.multiplier), 16);
}
constexpr long long out_line_bytes(const KernelConfig& config, const Sizes& s) {
  return round_up(s.out_pixels * out_bytes(config, s.multiplier), 16);
}
// A row of the filter: its taps and one of zeros.
constexpr long long weight_row_bytes(const KernelConfig& config, int filter_w) {
  return (filter_w + 1LL) * channels(config) * 2;
}
// The weights, or their gradient as fp32.
constexpr long long weight_bytes(const KernelConfig& config, const Sizes& s) {
  const long long rows = static_cast<long long>(s.filter_rows) * s.multiplier;
  return is_weight(config) ? rows * s.filter_w * channels(config) * 4 : rows * weight_row_bytes(config, s.filter_w);
}
constexpr long long place_bytes(const Sizes& s) { return static_cast<long long>(s.matrices) * kRows * kPlaceBytes; }
constexpr long long task_bytes(const Sizes& s) { return static_cast<long long>(s.tasks) * kTaskBytes; }
// Output rows of a round of matrices; in backward weight, a matrix of sums for each channel of a warp.
constexpr long long staged_bytes(const KernelConfig& config, const Sizes& s) {
  if (is_weight(config)) return warps(config) * kWarpChannels * kRows * kMatrixPitch * 4LL;
  return matrices(config) * config.direct.sub_h * kRows * kColumns *
         static_cast<long long>(out_bytes(config, s.multiplier));
}
constexpr long long tile_bytes(const KernelConfig& config, const Sizes& s) {
  return s.tile_lines * line_bytes(config, s) + (is_weight(config) ? s.out_lines * out_line_bytes(config, s) : 0);
}
// Where a part begins is the sum of those before it.
constexpr long long shared_bytes(const KernelConfig& config, const Sizes& s) {
  return table_bytes(s) + line_bytes(config, s) + weight_bytes(config, s) + place_bytes(s) + task_bytes(s) +
         staged_bytes(config, s) + config.direct.prefetch * tile_bytes(config, s);
}

}  // namespace wt::strips
