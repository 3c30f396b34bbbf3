// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/device/layout.h - patches of an image in a slot of kernels/tcgen05, and which taps each serves.
//
// Freestanding, as kernels/tcgen05/device/layout.h.
#pragma once

#include "kernels/tma/device/layout.h"

namespace wt::tcgen05_layout {

inline constexpr int kRows = 128;  // of one block's instructions

// A block's pixels are 8 wide and 16 high, and a patch of the image has as many more rows as the filter's taps below
// each other reach: `filter_rows` taps are that many starts, whole groups of 8 pixels apart. With filter3x3 a patch is
// as much wider too and serves all nine taps: starts anywhere.
constexpr bool loads_patches(const KernelConfig& config) { return config.kind == Kind::kTcgen05Halo; }
inline constexpr int kPatchEdge = 8, kPatchHeight = kRows / kPatchEdge;
constexpr int patch_taps_w(const KernelConfig& config) {
  return loads_patches(config) && config.gemm.specialization == Specialization::kFilter3x3 ? 3 : 1;
}
constexpr int pixel_pitch(const KernelConfig& config) { return kPatchEdge + patch_taps_w(config) - 1; }
constexpr int patch_height(const KernelConfig& config) { return kPatchHeight + config.gemm.filter_rows - 1; }
// Rows of it that are copied, of images that are so many pixels `high`: of one tile below another all.
constexpr int copied_patch_rows(const KernelConfig& config, long long high) {
  const bool alone = tma_layout::tile_blocks(config) == 1 && high < kPatchHeight;
  return alone ? static_cast<int>(high) + config.gemm.filter_rows - 1 : patch_height(config);
}

// Weight gradients: the rows of an instruction are blocks of x's channels, each a tap further on, its columns channels
// of dy. A patch of 8 pixels a row for each column of the filter that a tile has, with filter3x3 all three.
constexpr bool sums_taps(const KernelConfig& config) {
  return loads_patches(config) && config.direction == Direction::kBackwardWeight;
}
constexpr int patch_copies(const KernelConfig& config) {
  return config.gemm.specialization == Specialization::kFilter3x3 ? 3 : 1;
}
constexpr int block_channels(const KernelConfig& config) { return config.gemm.swizzle_a / 2; }
// Of an instruction; without a swizzle there is none to count.
constexpr int tap_blocks(const KernelConfig& config) {
  return block_channels(config) > 0 ? kRows / block_channels(config) : 1;
}
constexpr int patch_copy_rows(const KernelConfig& config) {
  const int taps = config.gemm.filter_rows, blocks = tap_blocks(config);
  return config.gemm.tile.k / kPatchEdge + (taps > blocks ? taps : blocks) - 1;
}
constexpr int patch_row_bytes(const KernelConfig& config) { return kPatchEdge * config.gemm.swizzle_a; }
constexpr int patch_copy_bytes(const KernelConfig& config) { return patch_copy_rows(config) * patch_row_bytes(config); }
constexpr int gradient_boxes(const KernelConfig& config) { return (config.gemm.tile.n + 63) / 64; }
constexpr int gradient_box_bytes(const KernelConfig& config) { return config.gemm.tile.k * 128; }

// What one instruction sums: taps below each other of one column of the filter, from `row` on, of which those from
// `least` on have not been summed before; or the last taps of two columns that lie beside each other.
struct TapUnit {
  int copy, row, least;
  bool beside;
};
// Taps of a column that its whole instructions leave over, where they go two by two.
constexpr bool pairs_columns(const KernelConfig& config) {
  return tap_blocks(config) == 2 && config.gemm.filter_rows % 2 == 1;
}
constexpr int units_of_column(const KernelConfig& config) {
  const int taps = config.gemm.filter_rows, blocks = tap_blocks(config);
  return pairs_columns(config) ? taps / 2 : (taps + blocks - 1) / blocks;
}
constexpr int tap_units(const KernelConfig& config) {
  const int copies = patch_copies(config);
  return copies * units_of_column(config) + (pairs_columns(config) ? (copies + 1) / 2 : 0);
}
constexpr TapUnit tap_unit(const KernelConfig& config, int unit) {
  const int taps = config.gemm.filter_rows, blocks = tap_blocks(config), of_column = units_of_column(config),
            copies = patch_copies(config);
  if (unit < copies * of_column) {
    const int least = unit % of_column * blocks, last = taps > blocks ? taps - blocks : 0;
    return {unit / of_column, least < last ? least : last, least, false};
  }
  const int copy = 2 * (unit - copies * of_column);
  if (copy + 1 < copies) return {copy, taps - 1, 0, true};
  return {copy, taps - 2, taps - 1, false};  // a last one, with the tap above once more
}

}  // namespace wt::tcgen05_layout
