// SPDX-License-Identifier: Apache-2.0
// kernels/tma/cost.h - what predictions of Hopper's TMA kernels share: factors, and facts of a problem.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "config/kernel_config.h"
#include "kernels/tma/device/layout.h"
#include "kernels/view.h"
#include "problem/problem.h"

namespace wt::tma_model {

// Cycles of one multiprocessor, and bytes per cycle of it. Fitted on 178 timed forward and backward-data runs on an
// H200 (mean error of the logarithm 0.07), with launch, first data, fill and memory of launch/rates.cc and how they add
// up.
inline constexpr double kLeastRowBytes = 95;  // a row of a bulk copy costs as much as one of so many bytes
inline constexpr double kExchangeBytesPerCycle = 12, kExchangeCycles = 700;  // of sums between the blocks of a cluster
inline constexpr double kParts = 1.3;       // what sums in parts took of their prediction, the median of 69 timed runs
inline constexpr double kTileCycles = 215;  // a tile of a persistent block: coordinates, barriers, drained pipeline
inline constexpr double kOverlap = 2.5;     // the power by which work and memory traffic add up; max would be infinite

// GEMM rows that share their number of k-blocks: all of them, or one phase of strided backward data.
struct Rows {
  int64_t count, taps;
};

// What predictions for one problem share, a part of its view.
struct Facts {
  explicit Facts(const View& seen);

  std::vector<Rows> rows;
  std::vector<Rows> divided;  // of kernels that leave out taps which miss the image; empty: there are none
  double crossed = 1;         // see crossed_lines
  bool stepped = false;       // im2col copies step over pixels: taps of several phases of a strided image
  bool whole_boxes = false;   // of 64 channels that are summed over
  double memory_power = 0;    // cycles that the whole device's memory takes, to the power of kOverlap
};

inline const Facts& facts_of(const View& seen) { return seen.part<Facts>(); }

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

// Kernels whose tiles are much wider than there are columns, or low and of few columns, took longer than predicted:
// medians of 500 runs on layers of up to 64 output channels.
double few_columns(const KernelConfig& config, const ConvProblem& problem);

// For a tile that is stored.
double output_cycles(const KernelConfig& config);

// Cycles that overlap with memory traffic, and cycles that follow.
struct Busy {
  double overlapped, after;
  double sum() const { return overlapped + after; }
};

// Sums of forward and backward data in `splits` parts: rounds of blocks, and what comes after the products.
double split_waves(const KernelConfig& config, int64_t tiles, int64_t splits, const Rates& rates);
double after_parts(const KernelConfig& config, const View& seen, double waves, int64_t splits);
// The count of parts with the least cycles, of tiles whose sums are `longest` stages at most. `cycles` of a count.
int64_t least_splits(const KernelConfig& config, int64_t tiles, double longest, int units, int asked,
                     const std::function<double(int64_t)>& cycles);

// What rows of an image cost more where the pixels' pitch is not whole lines.
double crossed_lines(int64_t channels, DataType type);

inline double mma_cycles(const KernelConfig& config, double bytes_deep) {
  const GemmConfig& gemm = config.gemm;
  const bool crosswise = tma_layout::crosswise(config);
  const double rows = crosswise ? gemm.tile.n : gemm.tile.m;
  const double columns = crosswise ? gemm.tile.m : gemm.tile.n * tma_layout::tap_columns(config);
  return rows / 64.0 * (bytes_deep / 32) * wgmma_cycles(columns);
}

// fp32: three products, and the numbers' parting before.
double three_product_cycles(const KernelConfig& config, double bytes_deep, const Rates& rates);

// Into how many parts the sums of a kernel with split_k go: the count with the least predicted time, which the launch
// then has too. Forward and backward data of kind tma.
int64_t planned_splits(const KernelConfig& config, const View& seen, int asked);

// Kernels that load patches, by tma_halo/cost.cc.
double halo_cycles(const KernelConfig& config, const View& seen, int asked);
int64_t halo_splits(const KernelConfig& config, const View& seen, int asked);

// Weight gradients, by tma_weight/cost.cc. `members` of a cluster, where they divide the sums.
double weight_cycles(const KernelConfig& config, const View& seen, int64_t members, int asked);
double weight_halo_cycles(const KernelConfig& config, const View& seen, int asked);
int64_t best_members(const KernelConfig& config, const View& seen, int asked);

}  // namespace wt::tma_model
