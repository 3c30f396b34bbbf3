// SPDX-License-Identifier: Apache-2.0
// kernels/stacked/view.h - how the work of kernels/stacked/device/kernel.h is cut; binding and cost model ask here.
#pragma once

#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt {

// A strip is the columns of one instruction's positions: those of some narrow images, or a tile of a wide one's. Its
// output rows go in segments, one consumer each.
struct StackedCut {
  int64_t images = 1;  // of a strip
  int64_t columns = 1, column_tiles = 1;
  int64_t pitch = 1;  // positions from one image of a strip to the next
  int64_t strips = 1;
  int64_t segments = 1, segment_rows = 1;  // of a strip
  int64_t slices = 1;                      // of a block's channels
  int64_t grid = 1;                        // blocks: as many for each slice
  int64_t steps = 1;                       // of a consumer's longest walk, one wave of blocks after the other
};
StackedCut cut_stacked(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

}  // namespace wt
