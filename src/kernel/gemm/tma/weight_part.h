// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/weight_part.h - a part of a weight gradient in the workspace: the sums of each tile as threads hold
// them.
//
//   (parts, tiles, fragments of 64 rows, blocks of 8 columns, 128 threads) vectors of four sums
//
// Freestanding: the host counts vectors by the same functions.
#pragma once

#include "kernel/gemm/tma/layout.h"
#include "kernel/gemm/tma/weight_few_layout.h"

namespace wt::weight_part {

// Where groups are merged, parts lie in the order of the merged filter, of which kernel/split_sum.h takes the diagonal.
constexpr bool serves(const KernelConfig& config) {
  return config.family == Family::kGemm && config.gemm.pipeline == Pipeline::kTma &&
         config.direction == Direction::kBackwardWeight && config.gemm.split_k == SplitK::kWorkspace &&
         config.gemm.groups_per_tile == 1;
}

// Vectors of a tile. Of few output channels, columns are output channels times taps.
constexpr int tile_vectors(const KernelConfig& config) {
  const int taps = weight_few::serves(config) ? weight_few::taps(config) : 1;
  return config.gemm.tile.m * config.gemm.tile.n * taps / 4;
}

}  // namespace wt::weight_part
