// SPDX-License-Identifier: Apache-2.0
// kernels/shared/direct_geometry.h - how a direct kernel's work is cut into blocks; binding and cost model ask here.
#pragma once

#include "config/kernel_config.h"
#include "kernels/device/direct/arguments.h"
#include "problem/problem.h"

namespace wt {

// The problem with its spatial values as direct kernels count them: a one-dimensional one lies along h.
ConvProblem turned(const ConvProblem& problem);

DirectImage direct_image(const ConvProblem& turned_problem, bool is_output);  // x, or y

DirectHistory direct_history(const ConvProblem& problem);  // where it lies; its address is the launch's

// Channel vectors of a block: they fill its threads and its memory accesses well.
DirectBlocks channel_blocks(int64_t channels, int vector, int threads, int max_lanes, int element_bytes);

// Strips of a streaming kernel, cut so that the blocks fill the multiprocessors about once: that mattered more on an
// H200 than every other choice.
struct StreamCut {
  DirectBlocks blocks;
  int64_t rows = 1;  // of a strip
  int64_t row_tiles = 1, column_tiles = 1;
  int64_t strips = 0;
  int64_t splits = 1;    // of backward weight
  int64_t grid = 0;      // blocks
  double waves = 0;      // of blocks
  double row_steps = 0;  // rows that one thread walks, one wave after the other, halo included
};
StreamCut cut_stream(const KernelConfig& config, const ConvProblem& turned_problem, int multiprocessors);

// How a banded kernel lays rows of images on the strips of its matrix instructions.
struct BandedCut {
  int64_t column_blocks = 1, block_rows = 1, group_segments = 1, segment_tiles = 1, segments = 1, groups = 1;
  int64_t channel_blocks = 1;
  int64_t rows = 0, rows_per_block = 1, grid = 0;
  int64_t range_rows = 1, range_blocks = 1;  // rows that some blocks of their own share, and how many these are
  int64_t resident = 1;                      // blocks of a multiprocessor
  double steps = 0;                          // of the longest walk, halos included
};
BandedCut cut_banded(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

// Rows and columns of a block of kernels/depthwise_gather/device/tile.h.
struct GatherTileCut {
  int64_t runs = 1, rows = 1;  // of a block: threads side by side and above each other
  int64_t column_tiles = 1, row_tiles = 1, channel_blocks = 1;
  int64_t grid = 0;
};
GatherTileCut cut_gather_tile(const KernelConfig& config, const ConvProblem& problem);

// How a kernel for small groups lays columns of images side by side in a block's row.
struct GroupsCut {
  int64_t columns = 1, group_segments = 1, segment_tiles = 1, segments = 1, groups = 1, height = 0;
  int64_t channel_blocks = 1;
  int64_t rows = 0, rows_per_block = 1, grid = 0;
  int64_t range_rows = 1, range_blocks = 1;  // rows that some blocks of their own share, and how many these are
  double steps = 0;                          // of the longest walk, halos included
};
GroupsCut cut_groups(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

}  // namespace wt
