// SPDX-License-Identifier: Apache-2.0
// kernels/rows/view.h - a convolution whose source has few channels as the rows kernel sees it.
//
// The constraint table, the cost model and the binding of launches ask here, so that they agree.
#pragma once

#include <cstdint>

#include "config/kernel_config.h"
#include "kernels/view.h"
#include "problem/problem.h"

namespace wt {

// What the kernel computes, as a forward convolution: the problem itself, or for backward data with unit strides that
// of dy with the filter turned round, whose padding may be negative. Its epilogue is empty.
ConvProblem rows_forward(const ConvProblem& problem);
// Whether every output is a product of its own pixel alone, one after the other: a unit filter without strides or
// padding. All images are then one line of pixels.
bool rows_is_flat(const ConvProblem& problem);
// rows_forward, and a flat problem as one dimension of one image.
ConvProblem rows_seen(const ConvProblem& problem);
// Whether so many channels are summed over.
bool rows_take_channels(const ConvProblem& problem);

// Along w in elements, since the channels of neighbouring pixels are neighbours.
struct RowsRuns {
  int64_t run;      // of a filter row
  int64_t step;     // between the windows of neighbouring outputs
  int64_t classes;  // 2 where windows start at even and odd elements in turns
  int64_t lead;     // 1 where the first window starts at an odd element
  int64_t octets;   // of 8 elements that every window of a row fits, wherever it starts
};

const RowsRuns& rows_runs(const View& seen);
// Filter rows of all planes: the runs of a window.
int64_t rows_filter_rows(const ConvProblem& problem);

struct RowsView : RowsRuns {
  // How the outputs are divided; no patch fits shared memory where `strips` is 0.
  int64_t strips, strip;          // along w
  int64_t row_blocks, tile_rows;  // along h
  int64_t class_strip;            // outputs of a strip's row in a class
  int64_t fragments;              // of 64 outputs in a whole patch
  int64_t pitch, patch_rows;      // of a patch in shared memory: bytes, rows of a plane
  int64_t boxes;                  // copies in bulk that its row is, where it is one
  int64_t slot_bytes;
  int64_t patches;
  int64_t tiles_n;
};

RowsView rows_view(const KernelConfig& config, const View& seen);

// Whether the least patch fits shared memory.
bool rows_fit(const KernelConfig& config, const View& seen);

// Shared memory of a block, in bytes.
int64_t rows_shared_bytes(const KernelConfig& config, const RowsView& view);

// Blocks that share the patches among them, for each of the column tiles.
int64_t rows_blocks(const KernelConfig& config, const RowsView& view, int multiprocessors);

// How far apart the outputs are that lanes read at once, as a power of two: those whose words share the fewest banks.
int rows_spread(const RowsView& view, int64_t stride_h);

// What a multiprocessor spends on a fragment of 64 outputs, in cycles, while others hide its waits.
double rows_fragment_cycles(const KernelConfig& config, const RowsView& view, const Rates& rates);

}  // namespace wt
