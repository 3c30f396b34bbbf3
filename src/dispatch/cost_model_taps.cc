// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model_taps.cc - predicted times of Hopper's kernel for few output channels.
//
// Rates are those of the other Hopper kernels and of shared memory, and a row's parts are added up, as if the blocks of
// a multiprocessor did not overlap at all. Kernels of any filter took 2.6 times as long, the median of 28 timed runs.
#include <algorithm>
#include <cmath>

#include "config/taps_view.h"
#include "dispatch/cost_model.h"
#include "kernel/gemm/taps/layout.h"

namespace wt {
namespace {

constexpr double kClockMhz = 1755;
constexpr double kLaunchCycles = 6500;
constexpr double kFirstDataCycles = 3500;
constexpr double kMemoryBytesPerCycle = 2300;  // of the whole device
constexpr double kSharedLanesPerCycle = 32;    // of a multiprocessor
constexpr double kRowCycles = 250;             // barriers, addresses
constexpr double kFilterCycles = 24;           // for each chunk of 16 bytes that a thread loads
constexpr double kNumberInstructions = 14;     // of an output in a row, beside its taps
constexpr double kAnyFilter = 2.6;

}  // namespace

double predicted_taps_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const TapsView view = taps_view(problem);
  const double columns = config.gemm.tile.n, pixels = taps_layout::kPixels;
  const bool sums_rows = taps_layout::sums_rows(config);
  const auto depth_steps = static_cast<double>(view.depth_blocks * (sums_rows ? view.h.taps : 1)) * 4;
  const double products = depth_steps * std::max(columns / 2, 16 + columns / 4);
  const double stored = columns * pixels / kSharedLanesPerCycle;
  const auto numbers = static_cast<double>(view.channels * view.w.stride * view.strip_units);
  const double taps_w = std::ceil(static_cast<double>(view.w.taps) / static_cast<double>(view.w.stride));
  const double any_sums = numbers * static_cast<double>(view.h.taps) * (taps_w + 3) / kSharedLanesPerCycle +
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
  const double row =
      taps_layout::in_registers(config) ? known : kAnyFilter * (products + stored + any_sums + kRowCycles);

  const auto segment = static_cast<double>(taps_segment_units(config, problem, view, multiprocessors));
  const double segments = std::ceil(static_cast<double>(view.h.units) / segment);
  const double blocks = static_cast<double>(problem.n * view.strips) * segments;
  // Sums over more channels than the kernels were fitted on took longer: the median of ten runs.
  constexpr double kDeep = 1.4;
  const double deep = view.depth_blocks > 2 ? kDeep : 1;
  const double filter = columns * depth_steps * 2 / taps_layout::kMathThreads * kFilterCycles *
                        (problem.direction == Direction::kForward ? 1 : 4);
  const double block = (segment + static_cast<double>(view.h.reach)) * row + filter;
  const double busy = std::ceil(blocks / multiprocessors) * block * deep;
  const double bytes = static_cast<double>(problem.x_elements()) * size_of(problem.x) +
                       static_cast<double>(problem.y_elements()) * size_of(problem.y);
  return (kLaunchCycles + kFirstDataCycles + std::max(busy, 1.15 * bytes / kMemoryBytesPerCycle)) / kClockMhz;
}

}  // namespace wt
