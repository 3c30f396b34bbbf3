// SPDX-License-Identifier: Apache-2.0
// kernels/taps/view.h - a convolution with few output channels as the taps kernel sees it.
//
// The constraint table, the cost model and the binding of launches ask here, so that they agree.
#pragma once

#include <cstdint>

#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt {

// One dimension: source pixel u, tap t -> output v = stride * u + dilation * t - shift. A unit is the outputs with the
// same (v + shift) / stride, rounded down.
struct TapsDim {
  int64_t taps, stride, dilation, shift;
  int64_t size;               // of the output
  int64_t first_unit, units;  // that hold outputs
  int64_t reach;              // units beyond its own that a source pixel reaches
};

struct TapsView {
  TapsDim d, h, w;
  int64_t depth, depth_blocks;  // channels that are summed over, and blocks of 64 of them
  int64_t row_blocks;           // the same of all filter planes
  int64_t channels;             // of the output
  int64_t columns;              // output channels times taps
  int64_t strip_units, strips;  // along w, as 64 source pixels allow; none where the filter is wider
  int64_t before;               // source pixels of a strip before its first unit
  int64_t window;               // output rows in the making
  int64_t window_numbers;       // outputs that they are
};

TapsView taps_view(const ConvProblem& problem);

// Columns of the products: of one row of taps where a kernel sums over the filter's rows.
int64_t taps_columns(const KernelConfig& config, const TapsView& view);

// Shared memory of a block, in bytes.
int64_t taps_shared_bytes(const KernelConfig& config, const TapsView& view);

// Blocks that share a multiprocessor.
int64_t taps_resident(const KernelConfig& config, const TapsView& view);

// Units along h that a block takes, so that the blocks fill the multiprocessors and few rows are multiplied twice.
int64_t taps_segment_units(const KernelConfig& config, const ConvProblem& problem, const TapsView& view,
                           int multiprocessors);

// Blocks that take so many strips of all images: in one dimension as many as run at once, else one each.
int64_t taps_blocks(const KernelConfig& config, int64_t jobs, const ConvProblem& problem, int multiprocessors);

}  // namespace wt
