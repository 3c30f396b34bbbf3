// SPDX-License-Identifier: Apache-2.0
#include "kernels/stacked/view.h"

#include <algorithm>

#include "base/integers.h"
#include "kernels/stacked/device/shape.h"

namespace wt {

StackedCut cut_stacked(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const bool data = problem.direction == Direction::kBackwardData;
  const Spatial out = data ? problem.in : problem.out();
  const int64_t height = out[1], width = out[2], reach = stacked::reach(config);
  StackedCut cut;
  cut.column_tiles = ceil_div(width, stacked::kPositions);
  cut.columns = ceil_div(width, cut.column_tiles);
  cut.pitch = cut.columns + reach;
  // The last image of a strip needs no room for what its columns reach.
  if (cut.column_tiles == 1)
    cut.images = std::min<int64_t>(problem.n, (stacked::kPositions - cut.columns) / cut.pitch + 1);
  cut.strips = ceil_div(problem.n, cut.images) * cut.column_tiles;
  cut.slices = ceil_div(problem.c, stacked::block_channels(config));
  const int64_t takers = stacked::apart(config) ? 1 : stacked::kConsumers;

  // The fewest steps that the busiest consumer has; a segment costs its first steps, which complete no row, and about
  // one more to enter.
  const int64_t room = std::max<int64_t>(1, int64_t{multiprocessors} * config.min_blocks / cut.slices);
  const int64_t waves = ceil_div(cut.slices * room, int64_t{multiprocessors} * config.min_blocks);
  const int64_t before = stacked::slots(config) - 1;
  int64_t least = 0;
  for (int64_t asked = 1; asked <= height; ++asked) {
    const int64_t rows = ceil_div(height, asked), segments = ceil_div(height, rows);
    if (segments < asked) continue;
    const int64_t rounds = ceil_div(cut.strips * segments, room * takers);
    const int64_t cost = rounds * (rows + before + 1);
    if (least != 0 && cost >= least) continue;
    least = cost;
    cut.segments = segments;
    cut.segment_rows = rows;
    cut.steps = waves * rounds * (rows + before);
  }
  cut.grid = cut.slices * std::min(room, ceil_div(cut.strips * cut.segments, takers));
  return cut;
}

}  // namespace wt
