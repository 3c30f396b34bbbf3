// SPDX-License-Identifier: Apache-2.0
// kernels/rows_weight/cost.cc - predicted times of Hopper's weight gradient for few channels.
//
// Instructions and shared-memory accesses are counted (kernels/rows_weight/view.cc), rates are those of the forward
// kernel (rows/cost.cc). What a first run on an H200 showed lies on both sides of this.
#include <algorithm>
#include <cmath>

#include "base/integers.h"
#include "kernels/rows_weight/device/layout.h"
#include "kernels/rows_weight/kind.h"
#include "kernels/rows_weight/view.h"

namespace wt {
namespace {

// Factors of the machine's rates, those of rows/cost.cc; memory by eye.
constexpr double kLaunch = 0.783, kFirstData = 0.745, kMemory = 0.825;
constexpr double kUnitCycles = 400;
constexpr double kShiftedBytesPerCycle = 8;  // of load warps, through registers
constexpr double kUnhidden = 0.1;            // of what the longer of products and memory hides
constexpr double kWordsFactor = 1.15;        // load warps take issue slots that a bulk copy does not
constexpr double kWordsAgain = 0.1;   // and each further tile, which loads the same words, makes it so much longer
constexpr double kSumLaunch = 0.602;  // of the launch that adds the parts, which overlaps the one before; a guess
constexpr double kPartMemory = 1.03;  // parts are written and read once each, from the L2; a guess
constexpr double kMargin = 1.15;

}  // namespace

double rows_weight_kind::predict(const KernelConfig& config, const View& seen, int splits) {
  const Rates& rates = seen.rates();
  const ConvProblem& problem = seen.problem();
  const RowsWeightView view = rows_weight_view(config, seen);
  const ConvProblem source = rows_weight_source(problem);
  if (view.strips == 0) return 1e9;
  const int64_t parts = rows_weight_parts(config, view, rates.units, splits), tiles = view.tiles_m * view.tiles_n;
  const double waves = std::ceil(static_cast<double>(parts * tiles) / (rates.units * int{config.min_blocks}));
  const double units = waves * static_cast<double>(ceil_div(view.units, parts));
  double step = rows_weight_step_cycles(config, view, rates);
  const bool words = !rows_weight_layout::loads_in_bulk(config);
  if (words) step *= kWordsFactor;
  const double steps = static_cast<double>(view.octets() * view.tile_rows) / 2;
  double load = 0;
  if (words && (source.in[2] * source.c % 4 != 0 || rows_weight_layout::loads_gradient_words(config)))
    load += static_cast<double>(view.planes * view.chunk_rows * view.pitch);
  if (rows_weight_layout::loads_gradient_words(config))
    load += static_cast<double>(view.tile_rows * view.strip * std::min<int64_t>(source.k, config.gemm.tile.n)) * 2;
  const double busy =
      units * std::max(steps * step + kUnitCycles / rows_weight_layout::groups_k(config), load / kShiftedBytesPerCycle);
  // Every tile reads its operands; after the first, mostly from the L2. Walks overlap by their filters' rows.
  const double overlap = 1 + static_cast<double>(view.chunks - 1) / static_cast<double>(view.walk_units);
  const double bytes =
      static_cast<double>(source.x_elements()) * size_of(source.x) * overlap * static_cast<double>(tiles + 1) / 2 +
      static_cast<double>(source.y_elements()) * size_of(source.y) * static_cast<double>(view.tiles_m + 1) / 2;
  const double memory = bytes / (kMemory * rates.memory_per_cycle()), longer = std::max(busy, memory);
  const double part_bytes = 16.0 * static_cast<double>(parts * tiles) * rows_weight_layout::tile_vectors(config);
  const double sum = kSumLaunch * rates.launch_cycles() + 2 * part_bytes / (kPartMemory * rates.memory_per_cycle());
  const double cycles = kLaunch * rates.launch_cycles() + kFirstData * rates.first_data_cycles() + longer +
                        kUnhidden * (busy + memory - longer) + sum;
  const double again = words ? 1 + kWordsAgain * static_cast<double>(tiles - 1) : 1;
  return kMargin * again * cycles / rates.clock;
}

}  // namespace wt
