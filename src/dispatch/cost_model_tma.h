// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model_tma.h - what predictions of Hopper's TMA kernels share: rates of an H200, and facts of a problem.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "config/kernel_config.h"
#include "kernel/gemm/tma/layout.h"
#include "problem/problem.h"

namespace wt::tma_model {

// Cycles and bytes a cycle of one multiprocessor of an H200. Fitted on 178 timed forward and backward-data runs (mean
// error of the logarithm 0.07): launch, first data, fill, narrow rows, memory and how they add up. Errors that depend
// on the configuration alone are in cost_correction.inc.
inline constexpr double kClockMhz = 1755;
inline constexpr double kLaunchCycles = 8300;
inline constexpr double kFirstDataCycles = 4700;
inline constexpr double kFillBytesPerCycle = 56;       // from the L2 to one multiprocessor
inline constexpr double kFillBytesPerCycleAll = 7700;  // to all of them together, where blocks share an operand
inline constexpr double kLeastRowBytes = 95;           // a row of a bulk copy costs as much as one of so many bytes
inline constexpr double kMemoryBytesPerCycle = 2424;   // of the whole device, read plus write
inline constexpr double kExchangeBytesPerCycle = 12, kExchangeCycles = 700;  // of sums between the blocks of a cluster
inline constexpr double kParts = 1.3;       // what sums in parts took of their prediction, the median of 69 timed runs
inline constexpr double kTileCycles = 215;  // a tile of a persistent block: coordinates, barriers, drained pipeline
inline constexpr double kOverlap = 2.5;     // the power by which work and memory traffic add up; max would be infinite

// GEMM rows that share their number of k-blocks: all of them, or one phase of strided backward data.
struct Rows {
  int64_t count, taps;
};

// What predictions for one problem share.
struct Facts {
  std::vector<Rows> rows;
  std::vector<Rows> divided;  // of kernels that leave out taps which miss the image; empty: there are none
  double crossed = 1;         // see crossed_lines
  bool stepped = false;       // im2col copies step over pixels: taps of several phases of a strided image
  bool whole_boxes = false;   // of 64 channels that are summed over
  double memory_power = 0;    // cycles that the whole device's memory takes, to the power of kOverlap
};

// Of the last problem that this thread asked about: a choice asks for one problem some hundred times.
const Facts& facts_of(const ConvProblem& problem);

// WHY not std::pow: a choice asks some hundred times.
inline double overlap_power(double cycles) {
  static_assert(kOverlap == 2.5);
  return cycles * cycles * std::sqrt(cycles);
}

// Work and the problem's memory traffic together.
inline double overlapped(double busy, const Facts& facts) {
  // WHY in 32 bits: it takes half the time, and a choice asks some hundred times.
  return std::pow(static_cast<float>(overlap_power(busy) + facts.memory_power), static_cast<float>(1 / kOverlap));
}

// The parts of whole boxes of channels that are copied and that are multiplied, of which kernels leave out quarters.
struct BoxParts {
  double copied = 1, multiplied = 1;
};
BoxParts box_parts(const KernelConfig& config, const ConvProblem& problem, const Facts& facts);

// Of a tile that is stored.
double output_cycles(const KernelConfig& config);

// Cycles that overlap with memory traffic, and cycles that follow.
struct Busy {
  double overlapped, after;
  double sum() const { return overlapped + after; }
};

// Sums of forward and backward data in `splits` parts: rounds of blocks, and what comes after the products.
double split_waves(const KernelConfig& config, int64_t tiles, int64_t splits, int multiprocessors);
double after_parts(const KernelConfig& config, const ConvProblem& problem, double waves, int64_t splits);
// The count of parts with the least cycles, of tiles whose sums are `longest` stages at most. `cycles` of a count.
int64_t least_splits(const KernelConfig& config, int64_t tiles, double longest, int multiprocessors,
                     const std::function<double(int64_t)>& cycles);

// What rows of an image cost more where the pixels' pitch is not whole lines.
double crossed_lines(int64_t channels, DataType type);

inline double mma_cycles(const KernelConfig& config, double bytes_deep) {
  const GemmConfig& gemm = config.gemm;
  const bool crosswise = tma_layout::crosswise(config);
  const double rows = crosswise ? gemm.tile.n : gemm.tile.m;
  const double columns = crosswise ? gemm.tile.m : gemm.tile.n * tma_layout::tap_columns(config);
  return rows / 64.0 * (bytes_deep / 32) * std::max(columns / 2.0, 16 + columns / 4.0);
}

// fp32: three products, and the numbers' parting before.
double three_product_cycles(const KernelConfig& config, double bytes_deep);

// What a kernel of merged groups sees of a problem; others see the problem. WHY `room`: to copy a problem costs as much
// as a prediction.
const ConvProblem& merged(const KernelConfig& config, const ConvProblem& problem, std::optional<ConvProblem>& room);

// Kernels that load patches, by cost_model_tma_halo.cc.
double halo_cycles(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);
int64_t halo_splits(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

// Weight gradients, by cost_model_tma_weight.cc. `members` of a cluster, where they divide the sums.
double weight_cycles(const KernelConfig& config, const ConvProblem& problem, int64_t members, int multiprocessors);
double weight_halo_cycles(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);
int64_t best_members(const KernelConfig& config, const ConvProblem& problem, int multiprocessors);

}  // namespace wt::tma_model
