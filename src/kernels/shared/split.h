// SPDX-License-Identifier: Apache-2.0
// kernels/shared/split.h - into how many parts the sum of a GEMM with few tiles is divided.
#pragma once

#include <cstdint>

#include "config/kernel_config.h"
#include "kernels/device/gemm/storage.h"
#include "kernels/resources.h"
#include "kernels/view.h"

namespace wt {

inline constexpr int64_t kMaxSplits = 128;

// What a caller may ask for in place of a count: as many parts as fill the blocks that run at once
// (split_count_by_occupancy), which a plan counts by its compiled kernel's registers.
inline constexpr int kSplitsByOccupancy = -1;

struct SplitInput {
  int64_t tiles;   // of the output
  int64_t blocks;  // k-blocks of a tile
  DataType type;   // that is multiplied
  int tile_m, tile_n, tile_k;
  int64_t units;     // blocks that run at once
  int64_t elements;  // of the output
  int asked = 0;     // parts that the caller of a plan asks for; 0: as predicted
  // Blocks that share a multiprocessor by their threads and shared memory: no fewer than with registers counted too.
  int64_t sharing = 1;

  bool operator==(const SplitInput&) const = default;
};

// For a kernel whose tiles are `tiles`, each `blocks` steps of tile.k deep.
inline SplitInput split_input(const KernelConfig& config, int64_t tiles, int64_t blocks, int64_t units,
                              int64_t elements, int asked) {
  const Extent3& tile = config.gemm.tile;
  const DataType type = multiply_type(config);
  // fp32 by TMA kernels is three products of tf32.
  const bool as_tf32 = type == DataType::kF32 && config.gemm.pipeline == Pipeline::kTma;
  SplitInput input{tiles, blocks, as_tf32 ? DataType::kTf32 : type, tile.m, tile.n, tile.k, units, elements, asked};
  if (asked == kSplitsByOccupancy) input.sharing = resident_blocks(config, 0);
  return input;
}

// Clusters of so many blocks that run at once on a device of this many multiprocessors.
int64_t resident_clusters(int64_t multiprocessors, int members);

// What is asked for, or the count with the least predicted time by the view's rates: waves of blocks, work of a part,
// and the price of adding the parts. The view keeps the counts, as kernels ask for the same tiles.
int64_t split_count(const View& seen, const SplitInput& input);

// The rule of occupancy alone, which does not look at the work of a part: max(1, blocks that run at once / tiles).
int64_t split_count_by_occupancy(const SplitInput& input);

}  // namespace wt
