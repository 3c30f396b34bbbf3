// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model_rows_weight.cc - predicted times of Hopper's weight gradient for few channels.
//
// Instructions and shared-memory accesses are counted (config/rows_weight_view.cc), rates are those of the forward
// kernel (cost_model_rows.cc). What a first run on an H200 showed lies on both sides of this.
#include <algorithm>
#include <cmath>

#include "base/integers.h"
#include "config/rows_weight_view.h"
#include "dispatch/cost_model.h"
#include "kernel/gemm/rows/weight_layout.h"

namespace wt {
namespace {

constexpr double kClockMhz = 1755;
constexpr double kLaunchCycles = 6500;
constexpr double kFirstDataCycles = 3500;
constexpr double kMemoryBytesPerCycle = 2000;  // of the whole device
constexpr double kUnitCycles = 400;
constexpr double kUnhidden = 0.1;      // of what the longer of products and memory hides
constexpr double kWordsFactor = 1.15;  // load warps take issue slots that a bulk copy does not
constexpr double kWordsAgain = 0.1;    // and each further tile, which loads the same words, makes it so much longer
constexpr double kSumCycles = 5000;    // of the launch that adds the parts, which overlaps the one before
constexpr double kPartBytesPerCycle = 2500;  // written and read once each, from the L2
constexpr double kMargin = 1.15;

}  // namespace

double predicted_rows_weight_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const RowsWeightView view = rows_weight_view(config, problem, multiprocessors);
  const ConvProblem source = rows_weight_source(problem);
  if (view.strips == 0) return 1e9;
  const int64_t parts = rows_weight_parts(config, view, multiprocessors), tiles = view.tiles_m * view.tiles_n;
  const double waves = std::ceil(static_cast<double>(parts * tiles) / (multiprocessors * int{config.min_blocks}));
  const double units = waves * static_cast<double>(ceil_div(view.units, parts));
  double step = rows_weight_step_cycles(config, view);
  const bool words = !rows_weight_layout::loads_in_bulk(config);
  if (words) step *= kWordsFactor;
  const double steps = static_cast<double>(view.octets() * view.tile_rows) / 2;
  const double busy = units * (steps * step + kUnitCycles / rows_weight_layout::groups_k(config));
  // Every tile reads its operands; after the first, mostly from the L2. Walks overlap by their filters' rows.
  const double overlap = 1 + static_cast<double>(view.chunks - 1) / static_cast<double>(view.walk_units);
  const double bytes =
      static_cast<double>(source.x_elements()) * size_of(source.x) * overlap * static_cast<double>(tiles + 1) / 2 +
      static_cast<double>(source.y_elements()) * size_of(source.y) * static_cast<double>(view.tiles_m + 1) / 2;
  const double memory = bytes / kMemoryBytesPerCycle, longer = std::max(busy, memory);
  const double part_bytes = 16.0 * static_cast<double>(parts * tiles) * rows_weight_layout::tile_vectors(config);
  const double sum = kSumCycles + 2 * part_bytes / kPartBytesPerCycle;
  const double cycles = kLaunchCycles + kFirstDataCycles + longer + kUnhidden * (busy + memory - longer) + sum;
  const double again = words ? 1 + kWordsAgain * static_cast<double>(tiles - 1) : 1;
  return kMargin * again * cycles / kClockMhz;
}

}  // namespace wt
