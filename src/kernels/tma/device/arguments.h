// SPDX-License-Identifier: Apache-2.0
// kernels/tma/device/arguments.h - the parameter block of the kernels that load by bulk tensor copies.
//
// Freestanding: host (kernels/tma/bind.cc) and device compilers lay these structs out alike.
#pragma once

#include "kernels/device/arguments.h"
#include "kernels/device/divider.h"
#include "kernels/tma/device/stream.h"
#include "kernels/tma/device/warm_arguments.h"
#include "target/cache_policy.h"

namespace wt {

// The taps of a region, a lattice: tap (i, j, l) reads the image at offset + step . (i, j, l) from the walk's pixel and
// meets the filter's tap filter + filter_step . (i, j, l). Order d, h, w.
struct TapWalk {
  i32 count[3];
  i32 offset[3], step[3];
  i32 filter, filter_step[3];
};

// Output pixels that see the same taps: all of a unit-stride problem, one phase of strided backward data, or one
// rectangle of a dilated problem. Its pixels form GEMM rows in the order n, d, h, w.
struct TmaRegion {
  TensorMap a;  // im2col, or tiled where the rows are plain
  i64 rows;
  i64 first_tile;         // of the region, in tiles along m, among all regions; of one without taps, see zeros.h
  i32 size[3];            // pixels of one image
  i32 start[3], step[3];  // image coordinate of pixel i: start + i * step
  TapWalk taps;
  i64 out_base;       // elements
  i64 out_stride[4];  // n, d, h, w
};

// Tiles first, first + 1, ... that blocks block, block + 1, ... take in turns, `width` of them.
struct TileRun {
  u32 first, end;
  u32 block, width;
};
inline constexpr int kMaxTileRuns = 16;

template <int kRegions>
struct TmaArguments {
  TmaRegion regions[kRegions];
  TensorMap b;
  TensorMap b_tail;    // the columns left over, of a filter that is read across
  TensorMap out;       // boxes of 64 columns
  TensorMap out_tail;  // the columns left over
  i32 region_count;
  i32 zero_regions;                  // behind them, which idle warps write
  i32 zero_units, image_zero_units;  // of up to kZeroRows pixels: all, and those of an image
  Divider zero_vectors;              // stores of a pixel
  i32 groups;
  i32 depth;         // channels that are summed over, of a group
  i32 depth_blocks;  // depth / box, rounded up
  i32 box_channels;  // of a copy
  i32 stage_bytes;   // that the copies of a stage bring
  i32 columns;       // output channels of a group
  i32 group_filter;  // from one group's filter to the next, in the map of B
  i64 tiles_m, tiles_n;
  i32 tile_run_count;
  TileRun tile_runs[kRegions > 1 ? kMaxTileRuns : 1];  // of kernels that list their work (layout.h)
  CachePolicy policy, filter_policy;                   // of A and B
  i32 splits;                                          // parts of every tile's sum; 1: it is whole
  i32 copied_rows;                                     // of a tile, by kernels on tensor memory
  i64 part_elements;                                   // of the output, which parts in the workspace lie apart
  Divider run;  // of patches: columns that lie together in the output, and what lies between two such runs
  i64 run_gap;
  void* y;  // or the workspace
  WarmArguments warm;
  EpilogueArguments epilogue;
};

// For kernels that copy their residual (layout.h): its maps, which are alike the output's, lie behind the others.
template <int kRegions>
struct TmaResidualArguments : TmaArguments<kRegions> {
  TensorMap residual;
  TensorMap residual_tail;
};
static_assert(sizeof(TmaResidualArguments<1>) == sizeof(TmaArguments<1>) + 2 * sizeof(TensorMap));

// For kernels with stream-K, which have one region.
struct TmaStreamArguments : TmaResidualArguments<1> {
  float* partials;  // pieces of tiles: stream_sum.h
  StreamShares stream;
};
static_assert(sizeof(TmaStreamArguments) == sizeof(TmaResidualArguments<1>) + alignof(TensorMap));

template <int kRegions, bool kResidual, bool kStream>
struct TmaArgumentsOf {
  using Type = TmaArguments<kRegions>;
};
template <int kRegions>
struct TmaArgumentsOf<kRegions, true, false> {
  using Type = TmaResidualArguments<kRegions>;
};
template <bool kResidual>
struct TmaArgumentsOf<1, kResidual, true> {
  using Type = TmaStreamArguments;
};

}  // namespace wt
