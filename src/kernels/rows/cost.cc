// SPDX-License-Identifier: Apache-2.0
// kernels/rows/cost.cc - predicted times of Hopper's kernel for few input channels.
//
// Instructions and shared-memory accesses are counted (kernels/rows/view.cc), rates are those of the other Hopper
// kernels. Runs of nine layers on an H200 took 0.86 to 1.15 of what this says, where the loads of turned filters that
// waited for each other, 3 us, are taken off.
#include <algorithm>
#include <cmath>

#include "kernels/rows/device/layout.h"
#include "kernels/rows/kind.h"
#include "kernels/rows/view.h"
#include "problem/traffic.h"

namespace wt {
namespace {

constexpr double kNever = 1e9;  // of a kernel that does not take the problem
// Factors of the machine's rates, set by eye on the nine layers.
constexpr double kLaunch = 0.783, kFirstData = 0.745, kMemory = 0.908;
constexpr double kChunkCycles = 300;         // a round of the filter's chunks of 16 bytes, number by number
constexpr double kColumnsCycles = 900;       // a round of eight columns' chunks, by vectors
constexpr double kUnhidden = 0.1;            // of what the longer of products and memory hides
constexpr double kWordsFactor = 1.15;        // load warps take issue slots that a bulk copy does not
constexpr double kLongWordsFactor = 1.35;    // the same of windows of more than 8 octets per row: two timed layers
constexpr double kWordBytesPerCycle = 10;    // of load warps, by 8 bytes: an estimate
constexpr double kShiftedBytesPerCycle = 8;  // the same through registers: four chunks of a lane on their way
constexpr double kOctetsFactor = 0.88;       // eight neighbours per lane, of 128 columns and long windows: five layers
constexpr double kShortOctetsFactor = 1.05;  // of short windows, where rows that are stored whole were faster: two
constexpr double kTwoPatches = 1.35;         // one is not enough ahead: three layers of 5x5
constexpr double kDirectFactor = 2;          // pairs from registers against whole rows by vectors
constexpr double kAnyRowCycles = 110, kAnyColumnCycles = 1.2;  // of a fragment's rows that start anywhere: counted

}  // namespace

double rows_kind::predict(const KernelConfig& config, const View& seen, int) {
  const Rates& rates = seen.rates();
  const ConvProblem& problem = seen.problem();
  // WHY here: a choice asks about kernels for other filters too, before their constraints, and to divide takes long.
  if (rows_filter_rows(problem) != rows_layout::filter_rows(config) ||
      rows_runs(seen).octets != rows_layout::octets_of_row(config))
    return kNever;
  const RowsView view = rows_view(config, seen);
  if (view.strips == 0) return kNever;
  const ConvProblem p = rows_seen(problem);
  const auto blocks = static_cast<double>(rows_blocks(config, view, rates.units) * view.tiles_n);
  const double resident = static_cast<double>(rates.units) * config.min_blocks;
  const double rounds = std::ceil(static_cast<double>(view.patches * view.tiles_n) / blocks) *
                        std::max(1.0, std::ceil(blocks / resident));
  // The fragments of the blocks that share a multiprocessor add up.
  const double shared = std::min<double>(config.min_blocks, std::ceil(blocks / rates.units));
  const bool stores_any = config.gemm.staging == Staging::kShared && config.gemm.vector_c == 1;
  double fragments = static_cast<double>(view.fragments) * rows_fragment_cycles(config, view, rates);
  if (!rows_layout::loads_in_bulk(config))
    fragments *= rows_layout::octets_of_row(config) > 8 ? kLongWordsFactor : kWordsFactor;
  if (config.gemm.stages == 2) fragments *= kTwoPatches;
  if (rows_layout::stores_octets(config)) {
    const bool is_long = rows_layout::octets_of_row(config) > 8 && config.gemm.tile.n >= 128;
    fragments *= is_long ? kOctetsFactor : kShortOctetsFactor;
  } else if (config.gemm.staging == Staging::kDirect) {
    fragments *= kDirectFactor;
  } else if (stores_any) {
    fragments += static_cast<double>(view.fragments) * (kAnyRowCycles + kAnyColumnCycles * config.gemm.tile.n);
  }
  double load = 0;
  if (!rows_layout::loads_in_bulk(config)) {
    load = static_cast<double>(view.slot_bytes) /
           (p.in[2] * p.c % 4 == 0 ? kWordBytesPerCycle : kShiftedBytesPerCycle);
  }
  const double busy = rounds * shared * (std::max(fragments, load) + 300);
  const double chunks = static_cast<double>(view.classes) * rows_layout::steps(config) * 2 * config.gemm.tile.n;
  // Turned round, columns are read by vectors of as many as are stored together, and as many bytes in a round.
  const bool by_columns = problem.direction == Direction::kBackwardData && config.gemm.vector_c > 1;
  const double filter = std::ceil(chunks / (128 * rows_layout::groups(config)) / (by_columns ? 8 : 1)) *
                            (by_columns ? kColumnsCycles : kChunkCycles) +
                        (stores_any ? 2000 : 1000);
  // Every tile of columns reads the image, after the first mostly from the L2.
  const double bytes = static_cast<double>(p.x_elements()) * size_of(p.x) * static_cast<double>(view.tiles_n + 1) / 2 +
                       static_cast<double>(p.y_elements()) * size_of(p.y) + epilogue_bytes(problem);
  const double memory = bytes / (kMemory * rates.memory_per_cycle()), longer = std::max(busy, memory);
  const double cycles = kLaunch * rates.launch_cycles() + kFirstData * rates.first_data_cycles() + filter + longer +
                        kUnhidden * (busy + memory - longer);
  return cycles / rates.clock;
}

}  // namespace wt
