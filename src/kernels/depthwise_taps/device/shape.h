// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_taps/device/shape.h - what a depthwise_taps kernel is compiled for, and where pixels lie in shared
// memory.
//
//   line of zeros | tiles: lines of x, lines of dy
//
// Freestanding: dispatch and the kernels read the same formulas.
#pragma once

#include "config/kernel_config.h"

namespace wt::depthwise_taps {

inline constexpr int kWindow = 16;       // pixels of dy that an instruction sums over
inline constexpr int kColumns = 8;       // of an instruction
inline constexpr int kWarpChannels = 8;  // a warp's: what a pixel's 16 bytes hold

constexpr int channels(const KernelConfig& config) { return config.direct.block_channels; }
constexpr int units(const KernelConfig& config) { return channels(config) / kWarpChannels; }
constexpr int warps(const KernelConfig& config) { return config.direct.block_size / 32; }
constexpr int matrices(const KernelConfig& config) { return config.direct.sub_h; }  // of a warp, 8 columns each
// Taps of a run: rows of an instruction, the upper half of which may be left zero.
constexpr int run_taps(const KernelConfig& config) { return 8 * config.direct.sub_w; }
// Neighbouring taps meet neighbouring pixels, so that a window's second half is what later taps of its first half meet.
constexpr bool shares_pixels(const KernelConfig& config) {
  return config.fixed.stride_w == 1 && config.fixed.dilation_w == 1;
}

constexpr long long pixel_bytes(const KernelConfig& config) { return 2LL * channels(config); }
constexpr long long line_bytes(const KernelConfig& config, long long pixels) {
  // WHY whole 128 bytes: all lines then begin in the same bank.
  return (pixels * pixel_bytes(config) + 127) / 128 * 128;
}

// The 16 bytes `unit` of pixel `pixel` of line `line`. WHY turned: five neighbouring pixels, or four of each of two
// neighbouring lines, which eight lanes read together, then lie in different banks.
template <int kUnits>
constexpr int turned_unit(int pixel, int unit, int line) {
  static_assert(kUnits == 2 || kUnits == 4);
  if constexpr (kUnits == 2) return pixel * 2 + (unit ^ ((pixel >> 2 ^ line) & 1));
  return pixel * 4 + (unit ^ ((pixel >> 1 & 3) ^ (line & 1) << 1));
}

}  // namespace wt::depthwise_taps
