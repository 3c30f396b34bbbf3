// SPDX-License-Identifier: Apache-2.0
// dispatch/split.h - into how many parts the sum of a GEMM with few tiles is divided.
#pragma once

#include <cstdint>

#include "config/kernel_config.h"

namespace wt {

struct SplitInput {
  int64_t tiles;   // of the output
  int64_t blocks;  // k-blocks of a tile
  int tile_m, tile_n, tile_k;
  int64_t multiprocessors;
  int64_t elements;  // of the output

  bool operator==(const SplitInput&) const = default;
};

// Of a kernel whose tiles are `tiles`, each `blocks` steps of tile.k deep.
constexpr SplitInput split_input(const GemmConfig& gemm, int64_t tiles, int64_t blocks, int64_t multiprocessors,
                                 int64_t elements) {
  return {tiles, blocks, gemm.tile.m, gemm.tile.n, gemm.tile.k, multiprocessors, elements};
}

// What WAVETILE_SPLITS asks for, to measure and to test with; 0: nothing. Kept within what a kernel can do.
int64_t requested_splits();

// Clusters of so many blocks that run at once on a device of this many multiprocessors.
int64_t resident_clusters(int64_t multiprocessors, int members);

// The count with the least predicted time: waves of blocks, work of a part, and the price of adding the parts.
int64_t split_count(const SplitInput& input);

// The rule of occupancy alone, which does not look at the work of a part; kept to compare with.
int64_t split_count_by_occupancy(const SplitInput& input);

}  // namespace wt
