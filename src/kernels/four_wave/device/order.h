// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/device/order.h - which tile a block takes, so that blocks that share data share a chiplet's L2.
//
//   block --chiplet_order--> index --tile_place--> group, m, n
//
// Freestanding: the host tests that both are one to one.
#pragma once

#include "target/types.h"

namespace wt {

// The hardware deals blocks out to its chiplets in turns. The result gives each chiplet consecutive indices.
constexpr u32 chiplet_order(u32 block, u32 blocks, u32 chiplets) {
  const u32 chiplet = block % chiplets, each = blocks / chiplets, rest = blocks % chiplets;
  return chiplet * each + (chiplet < rest ? chiplet : rest) + block / chiplets;
}

struct TilePlace {
  u32 group, m, n;  // in tiles
};

// Consecutive indices walk down `rows` tiles of a column before they go to the next column, so that a stretch of them
// reads few rows of A and few columns of B.
constexpr TilePlace tile_place(u32 index, u32 tiles_m, u32 tiles_n, u32 rows) {
  const u32 tiles = tiles_m * tiles_n, group = index / tiles;
  index -= group * tiles;
  const u32 band = index / (rows * tiles_n), first = band * rows;
  const u32 height = tiles_m - first < rows ? tiles_m - first : rows;
  index -= first * tiles_n;
  return {group, first + index % height, index / height};
}

}  // namespace wt
