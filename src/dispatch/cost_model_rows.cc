// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model_rows.cc - predicted times of Hopper's kernel for few input channels.
//
// Instructions and shared-memory accesses are counted (config/rows_view.cc), rates are those of the other Hopper
// kernels. Runs of nine layers on an H200 took 0.86 to 1.15 of what this says, where the loads of turned filters that
// waited for each other, 3 us, are taken off.
#include <algorithm>
#include <cmath>

#include "config/rows_view.h"
#include "dispatch/cost_model.h"
#include "kernel/gemm/rows/layout.h"

namespace wt {
namespace {

constexpr double kNever = 1e9;  // of a kernel that does not take the problem
constexpr double kClockMhz = 1755;
constexpr double kLaunchCycles = 6500;
constexpr double kFirstDataCycles = 3500;
constexpr double kMemoryBytesPerCycle = 2200;  // of the whole device; bulk copies and stores together reach 2450
constexpr double kChunkCycles = 300;           // a round of the filter's chunks of 16 bytes, number by number
constexpr double kColumnsCycles = 900;         // a round of eight columns' chunks, by vectors
constexpr double kUnhidden = 0.1;              // of what the longer of products and memory hides
constexpr double kWordsFactor = 1.15;          // load warps take issue slots that a bulk copy does not
constexpr double kLongWordsFactor = 1.35;      // the same of windows of more than 8 octets a row: two timed layers
constexpr double kWordBytesPerCycle = 5;       // of load warps, by 4 bytes; by 8 it is an estimate: two timed layers
constexpr double kOctetsFactor = 0.88;         // eight neighbours a lane, of 128 columns and long windows: five layers
constexpr double kShortOctetsFactor = 1.05;    // of short windows, where rows that are stored whole were faster: two
constexpr double kTwoPatches = 1.35;           // one is not enough ahead: three layers of 5x5
constexpr double kDirectFactor = 2;            // pairs from registers against whole rows by vectors

// Numbers of a row of the image that is read.
int64_t problem_row(const ConvProblem& problem) {
  return problem.direction == Direction::kForward ? problem.in[2] * problem.c : problem.out()[2] * problem.k;
}

}  // namespace

double predicted_rows_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  // WHY here: a choice asks about kernels for other filters too, before their constraints, and to divide takes long.
  if (problem.filter[1] != rows_layout::filter_rows(config) ||
      rows_runs(problem).octets != rows_layout::octets_of_row(config))
    return kNever;
  const RowsView view = rows_view(config, problem, multiprocessors);
  if (view.strips == 0) return kNever;
  const auto blocks = static_cast<double>(rows_blocks(config, view, multiprocessors) * view.tiles_n);
  const double resident = static_cast<double>(multiprocessors) * config.min_blocks;
  const double rounds = std::ceil(static_cast<double>(view.patches * view.tiles_n) / blocks) *
                        std::max(1.0, std::ceil(blocks / resident));
  // The fragments of the blocks that share a multiprocessor add up.
  const double shared = std::min<double>(config.min_blocks, std::ceil(blocks / multiprocessors));
  double fragments = static_cast<double>(view.fragments) * rows_fragment_cycles(config, view);
  if (!rows_layout::loads_in_bulk(config))
    fragments *= rows_layout::octets_of_row(config) > 8 ? kLongWordsFactor : kWordsFactor;
  if (config.gemm.stages == 2) fragments *= kTwoPatches;
  if (rows_layout::stores_octets(config)) {
    const bool is_long = rows_layout::octets_of_row(config) > 8 && config.gemm.tile.n >= 128;
    fragments *= is_long ? kOctetsFactor : kShortOctetsFactor;
  } else if (config.gemm.staging == Staging::kDirect) {
    fragments *= kDirectFactor;
  }
  double load = 0;
  if (!rows_layout::loads_in_bulk(config)) {
    const double wide = problem_row(problem) % 4 == 0 ? 2 : 1;
    load = static_cast<double>(view.slot_bytes) / (kWordBytesPerCycle * wide);
  }
  const double busy = rounds * shared * (std::max(fragments, load) + 300);
  const double chunks = static_cast<double>(view.classes) * rows_layout::steps(config) * 2 * config.gemm.tile.n;
  // Turned round, columns are read by vectors of as many as are stored together, and as many bytes in a round.
  const bool by_columns = problem.direction == Direction::kBackwardData && config.gemm.vector_c > 1;
  const double filter = std::ceil(chunks / (128 * rows_layout::groups(config)) / (by_columns ? 8 : 1)) *
                            (by_columns ? kColumnsCycles : kChunkCycles) +
                        1000;
  // Every tile of columns reads the image, after the first mostly from the L2.
  const ConvProblem p = rows_forward(problem);
  const double bytes = static_cast<double>(p.x_elements()) * size_of(p.x) * static_cast<double>(view.tiles_n + 1) / 2 +
                       static_cast<double>(p.y_elements()) * size_of(p.y);
  const double memory = bytes / kMemoryBytesPerCycle, longer = std::max(busy, memory);
  const double cycles = kLaunchCycles + kFirstDataCycles + filter + longer + kUnhidden * (busy + memory - longer);
  return cycles / kClockMhz;
}

}  // namespace wt
