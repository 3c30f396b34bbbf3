// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_gather/device/tile_shape.h - where the rows of kernels/depthwise_gather/device/tile.h lie in shared
// memory.
//
// Freestanding: dispatch and the kernel read the same formulas.
#pragma once

#include "config/kernel_config.h"

namespace wt::gather_tile {

inline constexpr int kLanes = 8;  // channel vectors of a block

constexpr int pixel_bytes(const KernelConfig& config) { return kLanes * config.direct.vector_out * 2; }
// A thread's pixels, and a gap. WHY: the runs that a warp reads side by side then lie in different halves of the banks.
constexpr int run_bytes(const KernelConfig& config) { return (config.direct.sub_w + 1) * pixel_bytes(config); }
constexpr int place(const KernelConfig& config, int pixel) {
  return pixel / config.direct.sub_w * run_bytes(config) + pixel % config.direct.sub_w * pixel_bytes(config);
}

// Pixels of a row: the runs of a block, their halo, and what is read ahead of the last tap; whole runs.
constexpr int row_pixels(const KernelConfig& config, int runs, int filter_w) {
  const int pixels = config.direct.sub_w, halo = (filter_w + pixels - 1) / pixels;
  return (runs + halo + 1) * pixels;
}
constexpr int row_bytes(const KernelConfig& config, int runs, int filter_w) {
  return place(config, row_pixels(config, runs, filter_w));
}

// A ring of rows, and two rows of the filter as fp32.
constexpr int shared_bytes(const KernelConfig& config, int rows, int runs, int filter_w) {
  return (rows + 1) * row_bytes(config, runs, filter_w) + 2 * filter_w * kLanes * config.direct.vector_out * 4;
}

}  // namespace wt::gather_tile
