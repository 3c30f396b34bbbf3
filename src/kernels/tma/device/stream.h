// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/stream.h - stream-K: the k-blocks of tiles in one line, cut into as many equal pieces as blocks.
//
//   tile 0: |-- block 0 --|-- block 1 --|   tile 1: |- 1 -|------ block 2 ------| ...
//
// Whole rounds of tiles come first, one for each block. WHY rounds: their blocks stand at the same depth and find in
// the L2 what others have read. A block finishes the tiles that it has whole. What
// it has of others, at most two, are pieces in the workspace, which stream_sum.h adds in the order of blocks.
// Freestanding: the host counts by the same numbers.
#pragma once

#include "target/types.h"

namespace wt {

// WHY 32 bits: dividing 64-bit numbers takes several hundred cycles, and nothing hides a block's first ones.
struct StreamShares {
  u32 tiles, depth;  // those that are cut; depth: k-blocks of a tile
  u32 blocks;
  u32 rounds;       // of whole tiles, before them
  u32 share, rest;  // k-blocks of a block; the first `rest` blocks have one more, the last ones may have none

  constexpr u32 units() const { return tiles * depth; }
  constexpr u32 whole() const { return rounds * blocks; }
  constexpr u32 first(u32 block) const {
    const u32 unit = block * share + (block < rest ? block : rest);
    return unit < units() ? unit : units();
  }
  // The block that has this unit.
  constexpr u32 owner(u32 unit) const {
    const u32 longer = rest * (share + 1);
    return unit < longer ? unit / (share + 1) : rest + (unit - longer) / share;
  }
  // Where a block's piece of a tile lies: that of its first tile, or that of its last.
  constexpr u32 slot(u32 block, u32 tile) const { return 2 * block + (first(block) / depth == tile ? 0 : 1); }
  constexpr u32 slots() const { return 2 * blocks; }
  // The launch that adds them: threads of a block, and sums of a thread.
  static constexpr int kSumThreads = 256, kSumWidth = 4;
  // Whether any tile is in pieces.
  constexpr bool divides() const { return tiles > 0 && depth > 1 && (rest != 0 || share % depth != 0); }
};

// For `tiles` that are `depth` deep, for up to `most` blocks. All units are fewer than 2^31.
constexpr StreamShares stream_shares(i64 tiles, i64 depth, i64 most) {
  constexpr i64 kLeastShare = 4;  // of a piece, which is stored and added again
  const auto cutters = [&](i64 of_tiles) {
    const i64 wanted = of_tiles * depth / kLeastShare, least = wanted > of_tiles ? wanted : of_tiles;
    return least < most ? least : most;
  };
  StreamShares cut{};
  if (tiles == 0) return cut;
  cut.depth = static_cast<u32>(depth);
  cut.blocks = static_cast<u32>(cutters(tiles));
  cut.rounds = static_cast<u32>(tiles) / cut.blocks;
  cut.tiles = static_cast<u32>(tiles) - cut.whole();
  if (cut.tiles == 0) return cut;
  const u32 sharers = static_cast<u32>(cutters(cut.tiles));
  cut.share = cut.units() / sharers;
  cut.rest = cut.units() - cut.share * sharers;
  return cut;
}

}  // namespace wt
