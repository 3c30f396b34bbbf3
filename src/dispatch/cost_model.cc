// SPDX-License-Identifier: Apache-2.0
#include "dispatch/cost_model.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "dispatch/split.h"
#include "dispatch/tma_maps.h"
#include "kernel/gemm/tma/layout.h"
#include "problem/gemm_view.h"

namespace wt {
namespace {

// Cycles and bytes a cycle of one multiprocessor of an H200. Rates of copies, stores and memory and the price of a
// launch come from microbenchmarks; kFillBytesPerCycleAll was set by eye on five searched problems, and the penalty of
// direct stores and the price of a tile are guesses. Nothing here is calibrated yet.
constexpr double kClockMhz = 1755;
constexpr double kLaunchCycles = 6000;
constexpr double kFirstDataCycles = 3500;
constexpr double kFillBytesPerCycle = 67;       // from the L2 to one multiprocessor
constexpr double kFillBytesPerCycleAll = 7700;  // to all of them together, where blocks share an operand
constexpr double kStoreBytesPerCycle = 30;
constexpr double kDirectStorePenalty = 2.5;    // stores of two columns instead of whole rows
constexpr double kMemoryBytesPerCycle = 2450;  // of the whole device, read plus write
constexpr double kTileCycles = 700;  // per tile of a persistent block: coordinates, barriers, drained pipeline

// GEMM rows that share their number of k-blocks: all of them, or one phase of strided backward data.
struct Part {
  int64_t tiles;  // of tile.m rows, all columns, all groups
  double stages;  // k-blocks of tile.k
};

std::vector<Part> gemm_parts(const KernelConfig& config, const ConvProblem& problem) {
  const GemmConfig& gemm = config.gemm;
  const int box = tma_layout::box_k(config), boxes = tma_layout::boxes(config);
  const bool forward = problem.direction == Direction::kForward;
  const int64_t depth_blocks = ceil_div(forward ? problem.c_per_group() : problem.k_per_group(), box);
  const int64_t tiles_n = ceil_div(forward ? problem.k_per_group() : problem.c_per_group(), gemm.tile.n) * problem.g;
  std::vector<Part> parts;
  const auto add = [&](int64_t rows, int64_t taps) {
    parts.push_back({ceil_div(rows, gemm.tile.m) * tiles_n, static_cast<double>(ceil_div(taps * depth_blocks, boxes))});
  };
  if (forward) {
    add(problem.n * pixels(problem.out()), pixels(problem.filter));
  } else {
    for (const StridePhase& phase : stride_phases(problem)) {
      int64_t taps = 1;
      for (const DimPhase& dim : phase.dim) taps *= dim.tap_count;
      add(phase.gemm.m, taps);
    }
  }
  return parts;
}

double mma_cycles(const GemmConfig& gemm, double bytes_deep) {
  return gemm.tile.m / 64.0 * (bytes_deep / 32) * std::max(gemm.tile.n / 2.0, 16 + gemm.tile.n / 4.0);
}

// One stage of the ring: products against copies, whichever takes longer.
double stage_cycles(const KernelConfig& config, double blocks) {
  const GemmConfig& gemm = config.gemm;
  const double deep = gemm.tile.k * size_of(operand_a(config));
  const double bytes = (gemm.tile.m + tma_layout::b_columns(config)) * deep;
  const double fill = bytes / std::min(kFillBytesPerCycle, kFillBytesPerCycleAll / std::max(1.0, blocks));
  return std::max(mma_cycles(gemm, deep), fill);
}

double output_cycles(const KernelConfig& config) {
  const double bytes = double{1} * config.gemm.tile.m * config.gemm.tile.n * size_of(output_type(config));
  const double cycles = bytes / kStoreBytesPerCycle;
  return config.gemm.staging == Staging::kTmaStore ? cycles : cycles * kDirectStorePenalty;
}

double memory_cycles(const ConvProblem& problem) {
  const double bytes = static_cast<double>(problem.x_elements()) * size_of(problem.x) +
                       static_cast<double>(problem.w_elements()) * size_of(problem.w) +
                       static_cast<double>(problem.y_elements()) * size_of(problem.y);
  return bytes / kMemoryBytesPerCycle;
}

double tma_cycles(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  int64_t tiles = 0;
  double stages = 0, longest = 0;
  for (const Part& part : gemm_parts(config, problem)) {
    tiles += part.tiles;
    stages += static_cast<double>(part.tiles) * part.stages;
    if (part.tiles > 0) longest = std::max(longest, part.stages);
  }
  if (tiles == 0) return kLaunchCycles;
  const auto units = static_cast<double>(multiprocessors);
  const double blocks = std::min(static_cast<double>(tiles), units);
  const double stage = stage_cycles(config, blocks), output = output_cycles(config);
  // A block takes the mean number of stages, rounded up to whole tiles.
  const double waves = std::ceil(static_cast<double>(tiles) / units);
  const double mean = stages / static_cast<double>(tiles);
  const double products = std::max(longest, waves * mean) * stage;
  // Ping-pong hides every output but the last behind the other group's products.
  const double outputs =
      config.gemm.ping_pong ? output + (waves - 1) * std::max(0.0, output - mean * stage) : waves * output;
  const double busy = products + outputs + waves * kTileCycles;
  return kLaunchCycles + kFirstDataCycles + std::max(busy, memory_cycles(problem));
}

double weight_cycles(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const GemmConfig& gemm = config.gemm;
  const int64_t blocks_n = ceil_div(problem.c_per_group(), 64) * pixels(problem.filter);
  const int64_t tiles = ceil_div(problem.k_per_group(), gemm.tile.m) * ceil_div(blocks_n, gemm.tile.n / 64) * problem.g;
  const int64_t depth = ceil_div(problem.n * pixels(problem.out()), gemm.tile.k);
  const bool split = gemm.split_k == SplitK::kWorkspace;
  const SplitInput input{tiles, depth, gemm.tile.m, gemm.tile.n, gemm.tile.k, multiprocessors, problem.w_elements()};
  const int64_t splits = split ? split_count(input) : 1;
  const auto units = static_cast<double>(multiprocessors);
  const auto items = static_cast<double>(tiles * splits);
  const double waves = std::ceil(items / units);
  const double stage = stage_cycles(config, std::min(items, units));
  const double output =
      double{1} * gemm.tile.m * gemm.tile.n * (split ? 4 : 2) * (split ? 1 : kDirectStorePenalty) / kStoreBytesPerCycle;
  const double busy =
      waves * (std::ceil(static_cast<double>(depth) / static_cast<double>(splits)) * stage + output + kTileCycles);
  double cycles = kLaunchCycles + kFirstDataCycles + std::max(busy, memory_cycles(problem));
  if (split) {
    const double bytes = static_cast<double>(problem.w_elements()) * 4 * (static_cast<double>(splits) + 1);
    cycles += kLaunchCycles / 2 + bytes / kMemoryBytesPerCycle;
  }
  return cycles;
}

}  // namespace

double predicted_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  if (config.gemm.pipeline == Pipeline::kWavelet) return predicted_wavelet_us(config, problem, multiprocessors);
  if (config.gemm.pipeline != Pipeline::kTma) return predicted_generic_us(config, problem, multiprocessors);
  double cycles = 0;
  if (problem.direction == Direction::kBackwardWeight) {
    cycles = weight_cycles(config, problem, multiprocessors);
  } else {
    cycles = tma_cycles(config, problem, multiprocessors);
  }
  return cycles / kClockMhz;
}

}  // namespace wt
