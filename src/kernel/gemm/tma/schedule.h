// SPDX-License-Identifier: Apache-2.0
// kernel/gemm/tma/schedule.h - which tile a block works on: a fixed walk over all tiles in steps of the grid.
#pragma once

#include "kernel/gemm/tma/arguments.h"
#include "target/target.h"

namespace wt {

struct TileIndex {
  i64 m, n;
  i32 group;
};

// Tiles in raster order along m or n, in bands `kBand` tiles wide across it, so that blocks running together share
// rows of A and columns of B in the L2.
template <Raster kRaster, int kBand>
WT_DEVICE TileIndex tile_at(i64 index, i64 tiles_m, i64 tiles_n) {
  const i64 per_group = tiles_m * tiles_n;
  const i32 group = static_cast<i32>(index / per_group);
  index -= group * per_group;
  const i64 along = kRaster == Raster::kAlongM ? tiles_m : tiles_n;
  const i64 across = kRaster == Raster::kAlongM ? tiles_n : tiles_m;
  const i64 band = index / (along * kBand);
  const i64 width = across - band * kBand < kBand ? across - band * kBand : kBand;
  index -= band * along * kBand;
  const i64 major = index / width, minor = band * kBand + index % width;
  return kRaster == Raster::kAlongM ? TileIndex{major, minor, group} : TileIndex{minor, major, group};
}

// The region that holds tile m. Few regions, sorted: a linear search.
template <int kRegions>
WT_DEVICE const TmaRegion& region_of(const TmaArguments<kRegions>& p, i64 tile_m) {
  if constexpr (kRegions == 1) {
    return p.regions[0];
  } else {
    int at = 0;
    while (at + 1 < p.region_count && p.regions[at + 1].first_tile <= tile_m) ++at;
    return p.regions[at];
  }
}

}  // namespace wt
