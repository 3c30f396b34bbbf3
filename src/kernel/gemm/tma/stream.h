// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/stream.h - stream-K: the k-blocks of all tiles in one line, cut into as many equal pieces as blocks.
//
//   tile 0: |-- block 0 --|-- block 1 --|   tile 1: |- 1 -|------ block 2 ------| ...
//
// A block finishes the tiles that it has whole. What it has of others, at most two, are pieces in the workspace, which
// stream_sum.h adds in the order of blocks. Freestanding: the host counts by the same numbers.
#pragma once

#include "target/types.h"

namespace wt {

struct StreamCut {
  i64 tiles, depth;  // depth: k-blocks of a tile
  i64 blocks;

  constexpr i64 units() const { return tiles * depth; }
  constexpr i64 first(i64 block) const { return units() * block / blocks; }
  // The block that has this unit.
  constexpr i64 owner(i64 unit) const { return ((unit + 1) * blocks - 1) / units(); }
  // Where a block's piece of a tile lies: that of its first tile, or that of its last.
  constexpr i64 slot(i64 block, i64 tile) const { return 2 * block + (first(block) / depth == tile ? 0 : 1); }
  constexpr i64 slots() const { return 2 * blocks; }
};

}  // namespace wt
