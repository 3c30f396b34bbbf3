// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_few/device/layout.h - how the weight gradient of few output channels divides its work and its
// shared memory.
//
// Freestanding: the host asks for boxes and bytes by the same functions that the kernel lays out by. Roles, threads and
// registers are those of layout.h.
#pragma once

#include "kernels/tma/device/layout.h"

namespace wt::weight_few {

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

// A block's shared memory, in bytes from its first aligned one.
struct SharedLayout {
  int x, dy;  // slots of tiles (tile.n, tile.k), and of patches (pixels, tile.m)
  int ring;   // barriers of the slots
  int bytes;
};
constexpr SharedLayout shared_layout(const KernelConfig& config) {
  Regions regions;
  SharedLayout at{};
  at.x = regions.take(config.gemm.stages * image_bytes(config));
  at.dy = regions.take(config.gemm.stages * patch_bytes(config));
  at.ring = regions.take(ring_bytes(config.gemm.stages));
  at.bytes = regions.bytes();
  return at;
}
constexpr int shared_bytes(const KernelConfig& config) { return shared_layout(config).bytes; }

}  // namespace wt::weight_few
