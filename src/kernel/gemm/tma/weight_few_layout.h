// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/weight_few_layout.h - how the weight gradient of few output channels divides its work and its shared
// memory.
//
// Freestanding: the host asks for boxes and bytes by the same functions that the kernel lays out by. Roles, threads and
// registers are those of layout.h.
#pragma once

#include "kernel/gemm/tma/layout.h"

namespace wt::weight_few {

constexpr bool serves(const KernelConfig& config) {
  return config.gemm.pipeline == Pipeline::kTma && config.direction == Direction::kBackwardWeight &&
         config.gemm.loader_a == Loader::kAsync;
}

// A tile is tile.n input channels, 64 for each warpgroup, by tile.m output channels under one or three rows of taps.
inline constexpr int kFilter = 3, kEdge = 8, kPitch = kEdge + kFilter - 1, kBox = 64, kRowBytes = 128;
constexpr int tap_rows(const KernelConfig& config) { return config.gemm.filter_rows; }
constexpr int taps(const KernelConfig& config) { return kFilter * tap_rows(config); }

// A stage is 8 pixels by so many rows of x, and the patch of dy that its taps reach. A step along k is two rows.
constexpr int tile_height(const KernelConfig& config) { return config.gemm.tile.k / kEdge; }
constexpr int patch_height(const KernelConfig& config) { return tile_height(config) + tap_rows(config) - 1; }
constexpr int steps(const KernelConfig& config) { return config.gemm.tile.k / 16; }
// Steps whose operands wait in registers together, in one of two sets: few, where nine taps of sums are there too.
constexpr int set_steps(const KernelConfig& config) { return tap_rows(config) == 1 ? steps(config) / 2 : 2; }

constexpr int boxes(const KernelConfig& config) { return config.gemm.tile.n / kBox; }
constexpr int box_bytes(const KernelConfig& config) { return config.gemm.tile.k * kRowBytes; }
constexpr int image_bytes(const KernelConfig& config) { return boxes(config) * box_bytes(config); }
constexpr int patch_bytes(const KernelConfig& config) {
  return tma_layout::aligned(patch_height(config) * kPitch * kRowBytes);
}
constexpr int load_threads(const KernelConfig& config) { return 32 * config.gemm.load_warps; }
constexpr int shared_bytes(const KernelConfig& config) {
  return config.gemm.stages * (image_bytes(config) + patch_bytes(config) + 16) + 1024;
}

}  // namespace wt::weight_few
