// SPDX-License-Identifier: Apache-2.0
// kernels/taps/cost.cc - predicted times of Hopper's kernel for few output channels.
//
// Rates are those of the other Hopper kernels and of shared memory, and a row's parts are added up, as if the blocks of
// a multiprocessor did not overlap at all. Kernels of any filter took 2.6 times as long, the median of 28 timed runs.
#include <algorithm>
#include <cmath>

#include "kernels/shared/warpgroup.h"
#include "kernels/taps/device/layout.h"
#include "kernels/taps/kind.h"
#include "kernels/taps/view.h"
#include "problem/traffic.h"

namespace wt {
namespace {

// Factors of the machine's rates, by eye.
constexpr double kLaunch = 0.783, kFirstData = 0.745, kMemory = 0.949;
constexpr double kRowCycles = 250;          // barriers, addresses
constexpr double kFilterCycles = 24;        // for each chunk of 16 bytes that a thread loads
constexpr double kNumberInstructions = 14;  // of an output in a row, beside its taps
constexpr double kAnyFilter = 2.6;
constexpr double kUnhidden = 0.05;   // of what the longer of copies and the rest hides
constexpr double kCopyCycles = 200;  // of 64 pixels' bulk copy, about 3 of each

}  // namespace

double taps_kind::predict(const KernelConfig& config, const View& seen, int) {
  const Rates& rates = seen.rates();
  const double shared_lanes = rates.shared / 4;
  const ConvProblem& problem = seen.problem();
  const TapsView view = taps_view(problem);
  const double columns = config.gemm.tile.n, pixels = taps_layout::kPixels;
  const bool sums_rows = taps_layout::sums_rows(config);
  const auto depth_steps =
      static_cast<double>(view.row_blocks * (sums_rows ? view.h.taps : 1)) * config.gemm.tile.k / 16;
  const double products = depth_steps * warpgroup_cycles(rates, columns);
  const double stored = columns * pixels / shared_lanes;
  const auto numbers = static_cast<double>(view.channels * view.w.stride * view.strip_units);
  const double taps_w = std::ceil(static_cast<double>(view.w.taps) / static_cast<double>(view.w.stride));
  const double any_sums = numbers * static_cast<double>(view.h.taps) * (taps_w + 3) / shared_lanes +
                          numbers * kNumberInstructions * static_cast<double>(1 + view.h.stride) / 64;
  // Outputs in registers: a warp's instructions, one of each scheduler.
  const double known_sums =
      taps_layout::in_registers(config)
          ? taps_layout::numbers_of_thread(config) *
                (2 * static_cast<double>(view.h.taps) * taps_w + static_cast<double>(view.window) +
                 kNumberInstructions * static_cast<double>(view.h.stride))
          : 0;
  // Products of one group hide what the others store and add; an estimate.
  const double groups = taps_layout::groups(config);
  const double row_sums =
      sums_rows ? 4 * taps_layout::numbers_of_thread(config) * (2 * taps_w + kNumberInstructions) : 0;
  // Fitted to two kernels for 9x9, of two and of three groups.
  constexpr double kRowProducts = 1.2, kChainCycles = 50;
  const double made = kRowProducts * products, latency = kChainCycles * depth_steps;
  const double summed = std::max(made, (made + stored + row_sums + 2 * kRowCycles + latency) / groups);
  const double known = sums_rows ? summed : products + stored + known_sums + kRowCycles;
  // Every source row comes as 64 pixels of 128 bytes.
  const double copies = static_cast<double>(view.row_blocks) * kCopyCycles;
  const double made_row =
      taps_layout::in_registers(config) ? known : kAnyFilter * (products + stored + any_sums + kRowCycles);
  const double row = std::max(copies, made_row) + kUnhidden * std::min(copies, made_row);

  const auto segment = static_cast<double>(taps_segment_units(config, problem, view, rates.units));
  const double segments = std::ceil(static_cast<double>(view.h.units) / segment);
  const double jobs = static_cast<double>(problem.n * view.d.size * view.strips) * segments;
  const auto blocks = static_cast<double>(taps_blocks(config, static_cast<int64_t>(jobs), problem, rates.units));
  // Sums over more channels than the kernels were fitted on took longer: the median of ten runs.
  constexpr double kDeep = 1.4;
  const double deep = view.depth_blocks > 2 ? kDeep : 1;
  const double filter = columns * static_cast<double>(view.row_blocks * (sums_rows ? view.h.taps : 1)) * 8 /
                        taps_layout::kMathThreads * kFilterCycles * (problem.direction == Direction::kForward ? 1 : 4);
  const double block = std::ceil(jobs / blocks) * (segment + static_cast<double>(view.h.reach)) * row + filter;
  const double busy = std::ceil(blocks / rates.units) * block * deep;
  const double bytes = static_cast<double>(problem.x_elements()) * size_of(problem.x) +
                       static_cast<double>(problem.y_elements()) * size_of(problem.y) + epilogue_bytes(problem);
  return (kLaunch * rates.launch_cycles() + kFirstData * rates.first_data_cycles() +
          std::max(busy, 1.15 * bytes / (kMemory * rates.memory_per_cycle()))) /
         rates.clock;
}

}  // namespace wt
