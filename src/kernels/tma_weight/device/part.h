// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/device/part.h - a part of a weight gradient in the workspace: the sums of each tile as threads
// hold them.
//
//   (parts, tiles, fragments of 64 rows, blocks of 8 columns, 128 threads) vectors of four sums
//
// Freestanding: the host counts vectors by the same functions.
#pragma once

#include "kernels/tma/device/layout.h"
#include "kernels/tma_weight_few/device/layout.h"

namespace wt::weight_part {

// Where groups are merged, parts lie in the order of the merged filter, of which kernels/beside/device/split_sum.h
// takes the diagonal; those of tensor memory lie in the filter's order too.
constexpr bool serves(const KernelConfig& config) {
  return config.gemm.split_k == SplitK::kWorkspace && config.gemm.groups_per_tile == 1 &&
         !tma_layout::on_tensor(config);
}

// Vectors of a tile. With few output channels, columns are output channels times taps.
constexpr int tile_vectors(const KernelConfig& config) {
  const int taps = config.kind == Kind::kTmaWeightFew ? weight_few::taps(config) : 1;
  return config.gemm.tile.m * config.gemm.tile.n * taps / 4;
}

}  // namespace wt::weight_part
