// SPDX-License-Identifier: Apache-2.0
// kernels/shared/tile_runs.h - which block of a persistent kernel takes which tile, where tiles take different times.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/tma/device/arguments.h"

namespace wt {

// Tiles first, first + 1, ... that take equally long.
struct TileClass {
  int64_t first, count;
  int64_t cost;
};

// Long tiles first, each to the block that has least to do: as runs of neighbouring tiles over neighbouring blocks. One
// run over all blocks in turns where that is as good, or where there would be more runs than a kernel has room for.
std::vector<TileRun> balanced_runs(std::vector<TileClass> classes, int64_t blocks);

}  // namespace wt
