// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_halo/device/layout.h - how the weight gradient with patches divides its work and its shared
// memory.
//
// Freestanding: the host asks for boxes and bytes by the same functions that the kernel lays out by. Roles, threads and
// registers are those of layout.h.
#pragma once

#include "kernels/tma/device/layout.h"

namespace wt::weight_halo {

// Neighbouring taps of a filter row, which are the columns of one instruction, and the rows of taps of a tile: one for
// each warpgroup along n.
inline constexpr int kTaps = 3;
constexpr int tap_rows(const KernelConfig& config) { return config.gemm.warps.n; }
constexpr int groups_m(const KernelConfig& config) { return config.gemm.warps.m / 4; }
constexpr int fragments(const KernelConfig& config) { return config.gemm.tile.m / 64 / groups_m(config); }

// Channels of dy and of x in a row of their tiles; a pixel of x is one swizzle span.
constexpr int rows_of_box(const KernelConfig& config) { return config.gemm.swizzle_a / 2; }
constexpr int channels(const KernelConfig& config) { return config.gemm.swizzle_b / 2; }
// Up to 32 output channels fill half of an instruction's rows: the other half has them a plane further on, whose
// products with the same patch belong to the next tap along d.
constexpr bool pairs_planes(const KernelConfig& config) { return config.gemm.swizzle_a == 64; }
constexpr int tile_channels(const KernelConfig& config) {
  return pairs_planes(config) ? rows_of_box(config) : config.gemm.tile.m;
}
constexpr int copied(int box, long long channels) {
  const long long whole = (channels + 7) / 8 * 8;
  return whole > box ? box : static_cast<int>(whole);
}

// Steps of 16 pixels along k: rows of 16 pixels, or two of 8.
constexpr int steps(const KernelConfig& config) { return config.gemm.tile.k / 16; }
inline constexpr int kMaxSteps = 16;

// Pixels of a patch: with the halo, a tile of 8 by 8 has 100 and one of 16 by 8, or of 32 by 4, 180 and 204. Half rows
// of channels leave room for more: for tiles of whole image rows.
constexpr int patch_pixels(const KernelConfig& config) {
  const int pixels = config.gemm.tile.k;
  if (tap_rows(config) == 1) return pixels + pixels / 4;
  return channels(config) == 32 ? 2 * pixels + 16 : pixels + pixels / 2 + 12;
}
constexpr int gradient_bytes(const KernelConfig& config) {
  return tma_layout::aligned(config.gemm.tile.m / rows_of_box(config) * config.gemm.tile.k * config.gemm.swizzle_a);
}
constexpr int patch_bytes(const KernelConfig& config) {
  return tma_layout::aligned(patch_pixels(config) * config.gemm.swizzle_b);
}

// A block's shared memory, in bytes from its first aligned one.
struct SharedLayout {
  int dy, x;  // slots of tiles (tile.k, tile.m), and of patches (pixels, channels)
  int ring;   // barriers of the slots
  int bytes;
};
constexpr SharedLayout shared_layout(const KernelConfig& config) {
  Regions regions;
  SharedLayout at{};
  at.dy = regions.take(config.gemm.stages * gradient_bytes(config));
  at.x = regions.take(config.gemm.stages * patch_bytes(config));
  at.ring = regions.take(ring_bytes(config.gemm.stages));
  at.bytes = regions.bytes();
  return at;
}
constexpr int shared_bytes(const KernelConfig& config) { return shared_layout(config).bytes; }

}  // namespace wt::weight_halo
