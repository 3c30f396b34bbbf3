// SPDX-License-Identifier: Apache-2.0
// kernels/portable/cost.cc - predicted times of the portable pipelines.
//
// Fitted to nothing: on an H200 medians were 0.57 to 0.89 of what this says (bench/results/model_suites_h200.json),
// other targets were not timed. Rates are those of launch/rates.cc; what of them a pipeline reaches, and the price of a
// k-block's barriers, are guesses that err on the slow side, so that on Hopper these kernels stand behind those that
// were timed.
#include <algorithm>
#include <cmath>

#include "config/targets.h"
#include "kernels/portable/device/layout.h"
#include "kernels/portable/kind.h"
#include "kernels/portable/view.h"
#include "kernels/resources.h"
#include "kernels/shared/warpgroup.h"
#include "problem/traffic.h"

namespace wt {
namespace {

// Factors of the machine's rates; guesses.
constexpr double kLaunch = 1.084, kFirstData = 1.064, kFill = 0.857;
constexpr double kSharedShown = 0.5;           // of its time, what products do not hide
constexpr double kLoadsShown = 0.25;           // the same of the loads' instructions
constexpr double kStoreBytesPerCycle = 24;     // of outputs, of one multiprocessor
constexpr double kScatteredStore = 3;          // direct stores of single elements
constexpr double kInstructionsPerVector = 10;  // address, test, load, store
constexpr double kInstructionsPlain = 6;       // without the walk over taps
constexpr double kLanesPerCycle = 80;          // of 128 that can start an instruction
constexpr double kTileCycles = 1500;           // coordinates, first and last barriers; a guess
constexpr double kMarginOnHopper = 1.6;

// What mma.sync and the older MFMA shapes have of the matrix units' rate: of gfx950 by its manual.
double instruction_share(const KernelConfig& config) {
  if (multiply_type(config) == DataType::kF32) return 1;
  if (is_nvidia(config.target)) return mma_sync_share(config.target);
  return config.target == Target::kGfx950 && size_of(multiply_type(config)) == 2 ? 0.5 : 1;
}

// What of the matrix units' rate a loop reaches, and the cycles of a k-block that nothing of its own block hides.
struct LoopRates {
  double share, exposed;
};
LoopRates loop_of(const KernelConfig& config) {
  const bool deep = portable_layout::buffers(config) > 2;
  switch (config.gemm.pipeline) {
    case Pipeline::kCompAsync:
      return {0.62, deep ? 120.0 : 250.0};
    case Pipeline::kCompV4:
      return {0.58, 200};
    case Pipeline::kCompV6:
      return config.gemm.double_buffer ? LoopRates{0.58, 150} : LoopRates{0.55, 250};
    case Pipeline::kCompV3:
      return {0.55, 300};
    case Pipeline::kCompV5:
      return {0.55, 250};
    case Pipeline::kWavelet:
      return {0.55, deep ? 150.0 : 250.0};
    case Pipeline::kMem:
      return {0.45, 350};
    default:
      return {0.4, portable_layout::is_async(config) ? 900.0 : 500.0};
  }
}

// Multiply-adds of single lanes wait for no matrix unit.
double share_of(const KernelConfig& config, const LoopRates& loop) {
  return operand_a(config) == DataType::kF32 ? std::max(loop.share, 0.7) : loop.share;
}

double ceil_div(double a, double b) { return std::ceil(a / b); }

// Tiles of the launch and the k-blocks of all of them.
struct Work {
  double tiles = 0, blocks = 0;
  double shared_tiles = 0;  // streamed: parts that a second launch adds
};
Work work_of(const KernelConfig& config, const View& seen, int splits) {
  const GemmConfig& gemm = config.gemm;
  Work work;
  if (seen.problem().direction == Direction::kBackwardWeight) {
    const PortableParts parts = portable_parts(config, seen, splits);
    work.tiles = static_cast<double>(parts.tiles * parts.splits);
    work.blocks = static_cast<double>(parts.tiles * parts.pixel_blocks);
    if (portable_layout::streams(config)) {
      const PortableStreams streams = portable_streams(config, parts, seen.rates().units);
      work.tiles = static_cast<double>(streams.whole_tiles + streams.blocks);
      work.shared_tiles = streams.has_parts ? static_cast<double>(streams.blocks) : 0;
    }
    return work;
  }
  const WaveletView* view = portable_view(config, seen);
  if (!view) return work;
  const double tiles_n =
      ceil_div(static_cast<double>(view->columns), gemm.tile.n) * static_cast<double>(view->problem.g);
  for (const WalkPhase& d : view->dim[0].phases) {
    for (const WalkPhase& h : view->dim[1].phases) {
      for (const WalkPhase& w : view->dim[2].phases) {
        const double tiles =
            ceil_div(static_cast<double>(view->problem.n * d.size * h.size * w.size), gemm.tile.m) * tiles_n;
        const auto numbers = static_cast<double>(d.taps * h.taps * w.taps * view->run);
        work.tiles += tiles;
        work.blocks += tiles * std::max(1.0, ceil_div(numbers, gemm.tile.k));
      }
    }
  }
  return work;
}

double vectors_cycles(double elements, int vector, double instructions = kInstructionsPerVector) {
  return elements / vector * instructions / kLanesPerCycle;
}

// Blocks that a multiprocessor holds at a time.
double resident_blocks(const KernelConfig& config) {
  const TargetInfo& info = info_of(config.target);
  const double threads = threads_of(config);
  const double by_shared =
      std::floor(static_cast<double>(info.shared_per_unit) / (static_cast<double>(shared_bytes_of(config)) + 1024));
  const double by_registers = std::floor(info.registers_per_unit / (threads * registers_of(config)));
  return std::clamp(std::min({by_shared, by_registers, std::floor(info.threads_per_unit / threads)}), 1.0, 8.0);
}

}  // namespace

double portable_kind::predict(const KernelConfig& config, const View& seen, int splits) {
  const ConvProblem& problem = seen.problem();
  const GemmConfig& gemm = config.gemm;
  const Rates& rates = seen.rates();
  const LoopRates loop = loop_of(config);
  const Work work = work_of(config, seen, splits);
  if (work.tiles == 0) return kLaunch * rates.launch_us;
  const double rows = gemm.tile.m, columns = gemm.tile.n, deep = gemm.tile.k;
  const double products =
      rows * columns * deep / (rates.macs(multiply_type(config)) * instruction_share(config) * share_of(config, loop));
  const double loads =
      vectors_cycles(rows * deep, gemm.vector_a) +
      vectors_cycles(columns * deep, gemm.vector_b, gemm.explicit_gemm ? kInstructionsPlain : kInstructionsPerVector);
  const double fill = (rows + columns) * deep * portable_layout::element_bytes(config) / (kFill * rates.fill);
  // Fragments that warps read and what loaders write; small tiles read the same data more often.
  const double shared = portable_layout::element_bytes(config) * deep *
                        (rows * gemm.warps.n + columns * gemm.warps.m + rows + columns) / rates.shared;
  const double hidden = kSharedShown * shared + kLoadsShown * loads;
  const bool atomic = gemm.split_k == SplitK::kAtomic, split = gemm.split_k == SplitK::kWorkspace;
  const double out = rows * columns * (split || atomic ? 4 : size_of(output_type(config))) / kStoreBytesPerCycle *
                     (gemm.staging == Staging::kDirect || atomic ? kScatteredStore : 1);
  // Blocks of one multiprocessor share its rates and hide each other's waits.
  const double resident = resident_blocks(config);
  const double mean = work.blocks / work.tiles;
  const double waves = ceil_div(work.tiles, rates.units * resident);
  const double held = std::min(resident, ceil_div(work.tiles, rates.units));
  const double shared_rate = held * (mean * (std::max({products, loads, fill}) + hidden) + out);
  const double alone = mean * (std::max(products, loads) + hidden + loop.exposed) + out + kTileCycles;
  const double launch = kLaunch * rates.launch_cycles();
  double cycles =
      launch + kFirstData * rates.first_data_cycles() +
      std::max(waves * std::max(shared_rate + kTileCycles, alone), tensor_bytes(problem) / rates.memory_per_cycle());
  if (split) {
    const double parts = work.tiles / std::max(1.0, static_cast<double>(portable_parts(config, seen, splits).tiles));
    cycles += launch / 2 + static_cast<double>(problem.w_elements()) * 4 * (parts + 1) / rates.memory_per_cycle();
  }
  if (atomic) {  // the sum is zeroed before, added to in the L2 cache, and read
    cycles += launch + static_cast<double>(problem.w_elements()) * 4 * 3 / rates.memory_per_cycle();
  }
  if (gemm.groups_per_tile > 1 && problem.direction != Direction::kBackwardWeight) {  // the merged filter is made first
    const double merged = static_cast<double>(problem.w_elements()) * size_of(problem.w) * gemm.groups_per_tile;
    cycles += launch / 2 + 2 * merged / rates.memory_per_cycle();
  }
  if (work.shared_tiles > 0)
    cycles += launch / 2 + work.shared_tiles * 4 * rows * columns * 4 / rates.memory_per_cycle();
  return cycles / rates.clock * (has_bulk_copies(config.target) ? kMarginOnHopper : 1);
}

}  // namespace wt
