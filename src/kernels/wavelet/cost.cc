// SPDX-License-Identifier: Apache-2.0
// kernels/wavelet/cost.cc - predicted times of the Hopper kernels whose load warps gather.
//
// A k-block takes as long as its products, its bytes or the instructions of the load warps, whichever is longest. The
// instruction counts were read off the machine code; how well they overlap is a guess.
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/shared/split.h"
#include "kernels/shared/warpgroup.h"
#include "kernels/wavelet/device/layout.h"
#include "kernels/wavelet/kind.h"
#include "kernels/wavelet/view.h"
#include "problem/traffic.h"

namespace wt {
namespace {

constexpr double kMeasured = 1.37;  // the median of what 46 layers took over what the rates below predict
// Factors of the machine's rates, by eye: threads fill shared memory, and bulk copies reach more of the memory's rate.
constexpr double kLaunch = 0.783, kFirstData = 0.745, kFill = 0.571, kMemory = 0.784;
constexpr double kStoreBytesPerCycle = 24;  // of one multiprocessor
constexpr double kTileCycles = 900;         // coordinates, barriers, drained pipeline
constexpr double kCopyInstructions = 9;     // for a vector that lands by itself
constexpr double kLoadInstructions = 8;     // for a vector through registers
// Per number of a kept filter: 28.0 us of 'bwd_data bf16 n8 c3 k96 i160x160 f7x7 s4 p2' (few_channels_h200.json), where
// the rest predicts 15.2.
constexpr double kGatherCycles = 0.9;
constexpr double kScatterFactor = 2;           // pairs of numbers stored here and there against whole rows: an estimate
constexpr double kPixelInstructions = 60;      // coordinates of a pixel and the barrier behind them
constexpr double kLanesPerCycle = 128;         // of a multiprocessor
constexpr double kHitCycles = 220;             // from load to use of a number in the L1 or L2
constexpr double kMissCycles = 1100;           // of one in memory, under full load: one layer
constexpr double kSectorsPerCycle = 1;         // that a multiprocessor's stores reach, each in its own: one layer
constexpr double kIssueShare[2] = {0.4, 0.6};  // of its issue slots that 4 and 8 load warps use

double ceil_div(double a, double b) { return std::ceil(a / b); }

// Numbers that are loaded one by one: a thread's chunks of eight wait for memory one after the other.
double singles_cycles(const KernelConfig& config, const ConvProblem& problem, double elements) {
  const double chunks = elements / 8 / wavelet_layout::load_threads(config);
  return chunks * (problem.filter_taps() > 1 ? kHitCycles : kMissCycles);
}

double vectors_cycles(const KernelConfig& config, const ConvProblem& problem, double elements, Loader loader,
                      int vector, int bytes) {
  if (loader == Loader::kGather && bytes == 2) return singles_cycles(config, problem, elements);
  const double instructions = loader == Loader::kAsync ? kCopyInstructions : kLoadInstructions;
  const bool eight = config.gemm.load_warps * config.min_blocks >= 8;
  // Narrow accesses fetch whole sectors of 32 bytes, but mostly from the L1.
  return elements / vector * (instructions + (vector * bytes < 4 ? 1 : 0)) / (kLanesPerCycle * kIssueShare[eight]);
}

double memory_cycles(const ConvProblem& p, const Rates& rates) {
  return tensor_bytes(p) / (kMemory * rates.memory_per_cycle());
}

double start_cycles(const Rates& rates) {
  return kLaunch * rates.launch_cycles() + kFirstData * rates.first_data_cycles();
}

double product_cycles(const GemmConfig& gemm, int span, const Rates& rates) {
  // WHY 1.15: every k-block waits for the loaders' proxy fence and barrier.
  return 1.15 * gemm.tile.m / 64.0 * (span / 32.0) * warpgroup_cycles(rates, gemm.tile.n);
}

double weight_cycles(const KernelConfig& config, const View& seen, int asked) {
  const Rates& rates = seen.rates();
  const ConvProblem& problem = seen.problem();
  const GemmConfig& gemm = config.gemm;
  const std::optional<WaveletWeightView>& view = wavelet_weight_view(config, seen);
  if (!view) return 0;
  const ConvProblem& p = view->walk.problem;
  const Spatial& image = view->gathers_outputs ? p.in : p.out();
  const auto pixels = static_cast<double>(p.n * image[0] * image[1] * image[2]);
  const double tiles = ceil_div(static_cast<double>(view->walk.numbers()), gemm.tile.m) *
                       ceil_div(static_cast<double>(view->walk.columns), gemm.tile.n) * static_cast<double>(problem.g);
  const double blocks = std::max(1.0, ceil_div(pixels, gemm.tile.k));
  const double resident = static_cast<double>(rates.units) * config.min_blocks;
  const bool split = gemm.split_k == SplitK::kWorkspace;
  const double splits = split ? static_cast<double>(split_count(
                                    seen, split_input(config, static_cast<int64_t>(tiles), static_cast<int64_t>(blocks),
                                                      static_cast<int64_t>(resident), problem.w_elements(), asked)))
                              : 1;
  const int bytes = size_of(operand_a(config));
  const double loads =
      kPixelInstructions * gemm.tile.k / (kLanesPerCycle * kIssueShare[0]) +
      vectors_cycles(config, problem, double{1} * gemm.tile.m * gemm.tile.k, gemm.loader_a, gemm.vector_a, bytes) +
      vectors_cycles(config, problem, double{1} * gemm.tile.n * gemm.tile.k, gemm.loader_b, gemm.vector_b, bytes);
  const double fill = double{1} * (gemm.tile.m + gemm.tile.n) * gemm.tile.k * bytes / (kFill * rates.fill);
  const double block = std::max({product_cycles(gemm, gemm.tile.k * bytes, rates), loads, fill});
  const double out = double{1} * gemm.tile.m * gemm.tile.n * 4 / kStoreBytesPerCycle;
  const double waves = ceil_div(tiles * splits, resident) * config.min_blocks;
  const double busy = waves * (ceil_div(blocks, splits) * block + (out + kTileCycles) / config.min_blocks);
  double cycles = start_cycles(rates) + std::max(busy, memory_cycles(problem, rates));
  if (split) {
    cycles += kLaunch * rates.launch_cycles() / 2 +
              static_cast<double>(problem.w_elements()) * 4 * (splits + 1) / (kMemory * rates.memory_per_cycle());
  }
  return cycles;
}

double gemm_cycles(const KernelConfig& config, const View& seen) {
  const Rates& rates = seen.rates();
  const ConvProblem& problem = seen.problem();
  const GemmConfig& gemm = config.gemm;
  const std::optional<WaveletView>& view = wavelet_view(config, seen);
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
  if (tiles == 0) return kLaunch * rates.launch_cycles();
  const bool keeps_filter =
      tiles_n * phases == 1 && wavelet_kept_blocks(config, static_cast<int64_t>(std::ceil(blocks / tiles))) > 0;
  const double filter_rows = keeps_filter ? 0 : gemm.tile.n;
  const double loads =
      vectors_cycles(config, problem, double{1} * gemm.tile.m * gemm.tile.k, gemm.loader_a, gemm.vector_a, bytes) +
      vectors_cycles(config, problem, filter_rows * gemm.tile.k, gemm.loader_b, gemm.vector_b, bytes);
  const double fill = (gemm.tile.m + filter_rows) * span / (kFill * rates.fill);
  const double block = std::max({product_cycles(gemm, span, rates), loads, fill});
  double out = double{1} * gemm.tile.m * gemm.tile.n * size_of(output_type(config)) / kStoreBytesPerCycle;
  if (wavelet_layout::has_phase_columns(config)) out *= kScatterFactor;
  // Short vectors: each store is a sector of the L2.
  const int64_t channels = problem.direction == Direction::kForward ? problem.k : problem.c;
  const double vector = static_cast<double>(channels & -channels);
  if (vector < 8 && !wavelet_layout::has_phase_columns(config))
    out = std::max(out, gemm.tile.m * std::min<double>(gemm.tile.n, view->columns) / vector / kSectorsPerCycle);
  // Blocks that share a multiprocessor hide each other's ends.
  const double ends = (out + kTileCycles) / config.min_blocks;
  const double waves = ceil_div(tiles, static_cast<double>(rates.units) * config.min_blocks) * config.min_blocks;
  const double busy = waves * (blocks / tiles * block + ends);
  // WHY: the columns' filter is gathered number by number; 588 of them took six times what the rest predicts.
  const bool columns = wavelet_layout::has_phase_columns(config);
  const double gathered = columns && !keeps_filter ? 1 + static_cast<double>(view->columns) / 128 : 1;
  // A block that keeps its filter gathers it before its first product.
  const double filter = columns && keeps_filter ? blocks / tiles * gemm.tile.n * gemm.tile.k * kGatherCycles : 0;
  return start_cycles(rates) + filter + std::max(busy, memory_cycles(problem, rates)) * gathered;
}

}  // namespace

double wavelet_kind::predict(const KernelConfig& config, const View& seen, int splits) {
  const bool gradient = seen.problem().direction == Direction::kBackwardWeight;
  const double cycles = gradient ? weight_cycles(config, seen, splits) : gemm_cycles(config, seen);
  return cycles * kMeasured / seen.rates().clock;
}

}  // namespace wt
