// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model_wavelet.cc - predicted times of the Hopper kernels whose load warps gather.
//
// A k-block takes as long as its products, its bytes or the instructions of the load warps, whichever is longest. The
// instruction counts were read off the machine code; how well they overlap is a guess.
#include <algorithm>
#include <cmath>
#include <optional>

#include "config/wavelet_view.h"
#include "dispatch/cost_model.h"
#include "dispatch/split.h"
#include "kernel/gemm/wavelet/layout.h"

namespace wt {
namespace {

constexpr double kClockMhz = 1755;
constexpr double kMeasured = 1.37;  // the median of what 46 layers took over what the rates below predict
constexpr double kLaunchCycles = 6500;
constexpr double kFirstDataCycles = 3500;
constexpr double kFillBytesPerCycle = 32;      // from the L2 to one multiprocessor, by threads
constexpr double kStoreBytesPerCycle = 24;     // of one multiprocessor
constexpr double kMemoryBytesPerCycle = 1900;  // of the whole device, read plus write; bulk copies reach 2450
constexpr double kTileCycles = 900;            // coordinates, barriers, drained pipeline
constexpr double kCopyInstructions = 9;        // for a vector that lands by itself
constexpr double kLoadInstructions = 8;        // for a vector through registers
constexpr double kScatterFactor = 4;           // single numbers stored here and there against whole rows
constexpr double kPixelInstructions = 60;      // coordinates of a pixel and the barrier behind them
constexpr double kLanesPerCycle = 128;         // of a multiprocessor
constexpr double kIssueShare[2] = {0.4, 0.6};  // of its issue slots that 4 and 8 load warps use

double ceil_div(double a, double b) { return std::ceil(a / b); }

double vectors_cycles(const KernelConfig& config, double elements, Loader loader, int vector, int bytes) {
  const double instructions = loader == Loader::kAsync ? kCopyInstructions : kLoadInstructions;
  const bool eight = config.gemm.load_warps * config.min_blocks >= 8;
  // Narrow accesses fetch whole sectors of 32 bytes, but mostly from the L1.
  return elements / vector * (instructions + (vector * bytes < 4 ? 1 : 0)) / (kLanesPerCycle * kIssueShare[eight]);
}

double memory_cycles(const ConvProblem& p) {
  const double bytes = static_cast<double>(p.x_elements()) * size_of(p.x) +
                       static_cast<double>(p.w_elements()) * size_of(p.w) +
                       static_cast<double>(p.y_elements()) * size_of(p.y);
  return bytes / kMemoryBytesPerCycle;
}

double product_cycles(const GemmConfig& gemm, int span) {
  // WHY 1.15: every k-block waits for the loaders' proxy fence and barrier.
  return 1.15 * gemm.tile.m / 64.0 * (span / 32.0) * std::max(gemm.tile.n / 2.0, 16 + gemm.tile.n / 4.0);
}

double weight_cycles(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const GemmConfig& gemm = config.gemm;
  const std::optional<WaveletWeightView>& view = wavelet_weight_view(config, problem);
  if (!view) return 0;
  const ConvProblem& p = view->walk.problem;
  const Spatial& image = view->gathers_outputs ? p.in : p.out();
  const auto pixels = static_cast<double>(p.n * image[0] * image[1] * image[2]);
  const double tiles = ceil_div(static_cast<double>(view->walk.numbers()), gemm.tile.m) *
                       ceil_div(static_cast<double>(view->walk.columns), gemm.tile.n) * static_cast<double>(problem.g);
  const double blocks = std::max(1.0, ceil_div(pixels, gemm.tile.k));
  const double resident = static_cast<double>(multiprocessors) * config.min_blocks;
  const bool split = gemm.split_k == SplitK::kWorkspace;
  const double splits = split ? static_cast<double>(split_count(
                                    {static_cast<int64_t>(tiles), static_cast<int64_t>(blocks), gemm.tile.m,
                                     gemm.tile.n, gemm.tile.k, static_cast<int64_t>(resident), problem.w_elements()}))
                              : 1;
  const int bytes = size_of(operand_a(config));
  const double loads =
      kPixelInstructions * gemm.tile.k / (kLanesPerCycle * kIssueShare[0]) +
      vectors_cycles(config, double{1} * gemm.tile.m * gemm.tile.k, gemm.loader_a, gemm.vector_a, bytes) +
      vectors_cycles(config, double{1} * gemm.tile.n * gemm.tile.k, gemm.loader_b, gemm.vector_b, bytes);
  const double fill = double{1} * (gemm.tile.m + gemm.tile.n) * gemm.tile.k * bytes / kFillBytesPerCycle;
  const double block = std::max({product_cycles(gemm, gemm.tile.k * bytes), loads, fill});
  const double out = double{1} * gemm.tile.m * gemm.tile.n * 4 / kStoreBytesPerCycle;
  const double waves = ceil_div(tiles * splits, resident) * config.min_blocks;
  const double busy = waves * (ceil_div(blocks, splits) * block + (out + kTileCycles) / config.min_blocks);
  double cycles = kLaunchCycles + kFirstDataCycles + std::max(busy, memory_cycles(problem));
  if (split) {
    cycles += kLaunchCycles / 2 + static_cast<double>(problem.w_elements()) * 4 * (splits + 1) / kMemoryBytesPerCycle;
  }
  return cycles;
}

double gemm_cycles(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const GemmConfig& gemm = config.gemm;
  const std::optional<WaveletView>& view = wavelet_view(config, problem);
  if (!view) return 0;
  const int span = wavelet_layout::span(config), bytes = size_of(operand_a(config));
  const double tiles_n = ceil_div(static_cast<double>(view->columns), gemm.tile.n) * static_cast<double>(problem.g);
  double tiles = 0, blocks = 0, phases = 0;  // of all phases: tiles, and k-blocks of their tiles
  for (const WalkPhase& d : view->dim[0].phases) {
    for (const WalkPhase& h : view->dim[1].phases) {
      for (const WalkPhase& w : view->dim[2].phases) {
        const double rows = static_cast<double>(problem.n * d.size * h.size * w.size);
        const double runs = static_cast<double>(d.taps * h.taps * (view->row_is_one_run ? 1 : w.taps));
        const double part = ceil_div(rows, gemm.tile.m) * tiles_n;
        tiles += part;
        blocks += part * std::max(1.0, ceil_div(runs * static_cast<double>(view->run), gemm.tile.k));
        phases += 1;
      }
    }
  }
  if (tiles == 0) return kLaunchCycles;
  const bool keeps_filter = tiles_n * phases == 1 && blocks / tiles <= gemm.stages;
  const double filter_rows = keeps_filter ? 0 : gemm.tile.n;
  const double loads =
      vectors_cycles(config, double{1} * gemm.tile.m * gemm.tile.k, gemm.loader_a, gemm.vector_a, bytes) +
      vectors_cycles(config, filter_rows * gemm.tile.k, gemm.loader_b, gemm.vector_b, bytes);
  const double fill = (gemm.tile.m + filter_rows) * span / kFillBytesPerCycle;
  const double block = std::max({product_cycles(gemm, span), loads, fill});
  double out = double{1} * gemm.tile.m * gemm.tile.n * size_of(output_type(config)) / kStoreBytesPerCycle;
  if (wavelet_layout::has_phase_columns(config)) out *= kScatterFactor;
  // Blocks that share a multiprocessor hide each other's ends.
  const double ends = (out + kTileCycles) / config.min_blocks;
  const double waves = ceil_div(tiles, static_cast<double>(multiprocessors) * config.min_blocks) * config.min_blocks;
  const double busy = waves * (blocks / tiles * block + ends);
  // WHY: the columns' filter is gathered number by number; 588 of them took six times what the rest predicts.
  const double gathered = wavelet_layout::has_phase_columns(config) ? 1 + static_cast<double>(view->columns) / 128 : 1;
  return kLaunchCycles + kFirstDataCycles + std::max(busy, memory_cycles(problem)) * gathered;
}

}  // namespace

double predicted_wavelet_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const bool gradient = problem.direction == Direction::kBackwardWeight;
  const double cycles =
      gradient ? weight_cycles(config, problem, multiprocessors) : gemm_cycles(config, problem, multiprocessors);
  return cycles * kMeasured / kClockMhz;
}

}  // namespace wt
