// SPDX-License-Identifier: Apache-2.0
// kernels/portable/cost.cc - predicted times of the portable pipelines.
//
// Fitted to nothing but CDNA's addresses, below: on an H200 medians were 0.57 to 0.89 of what this says
// (bench/results/model_suites_h200.json), other targets were not timed. Rates are those of launch/rates.cc; what of
// them a pipeline reaches, and the price of a k-block's barriers, are guesses that err on the slow side, so that on
// Hopper these kernels stand behind those that were timed.
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

// What of the matrix units' rate a loop reaches, and the cycles of a k-block that nothing of its own block hides.
struct LoopRates {
  double share, exposed;
};

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

// Weight gradients on CDNA, whose SIMDs start address and matrix instructions from the same slots. A wave that does
// both waits for its addresses; where several blocks share a unit, part of that is filled by another's products. Load
// waves (wavelet) keep them away from the products, for a ring of their own to start and barriers in every k-block.
// Fitted to the list and the uplifts that Composable Kernel published for 12 of RetinaNet's 37 weight gradients on
// gfx950 (tests/dispatch/choice/wavelet_choice_test.cc); clang's gfx942 code of compv4 has 73 more instructions per
// vector with taps than without.
constexpr double kTapAddresses = 85;         // instructions per vector of x under taps or padding
constexpr double kPlainAddresses = 9;        // of a tensor that is read as it lies
constexpr double kCdnaLanesPerCycle = 64;    // of vector instructions, of a unit's four SIMDs
constexpr double kAddressesOfOne = 2;        // of their time, what a block without neighbours waits
constexpr double kAddressesOfSeveral = 0.1;  // what of it blocks do not hide for each other
constexpr LoopRates kCdnaWavelet = {0.5, 250};
constexpr double kCdnaWaveletTileCycles = 6000;

// What mma.sync and the older MFMA shapes have of the matrix units' rate: of gfx950 by its manual.
double instruction_share(const KernelConfig& config) {
  if (multiply_type(config) == DataType::kF32) return 1;
  if (is_nvidia(config.target)) return mma_sync_share(config.target);
  const Extent3& mma = config.gemm.mma;
  const bool narrow = mma.k * mma.m <= 16 * 16;  // 16x16x16 and 32x32x8
  return config.target == Target::kGfx950 && size_of(multiply_type(config)) == 2 && narrow ? 0.5 : 1;
}

bool is_cdna_weight(const KernelConfig& config) {
  return config.direction == Direction::kBackwardWeight && portable_layout::warp_size(config.target) == 64;
}

LoopRates loop_of(const KernelConfig& config) {
  const bool deep = portable_layout::buffers(config) > 2;
  switch (config.gemm.pipeline) {
    case Pipeline::kCompAsync:
      // Guesses. gfx950 copies as compv4 loads; the others copy 4 bytes of a lane, whose place it asks another for.
      if (portable_layout::copies_waves(config)) return {config.target == Target::kGfx950 ? 0.56 : 0.25, 250};
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
      if (is_cdna_weight(config)) return kCdnaWavelet;
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

// The instructions that bring a k-block of operands to shared memory, in cycles of a multiprocessor, and what of them
// the block's own products wait for: among blocks that share the multiprocessor, of one alone, and in any case.
struct Loads {
  double cycles, shared, alone, shown;
};
Loads loads_of(const KernelConfig& config, const ConvProblem& problem) {
  const GemmConfig& gemm = config.gemm;
  const double a = 1.0 * gemm.tile.m * gemm.tile.k, b = 1.0 * gemm.tile.n * gemm.tile.k;
  if (!is_cdna_weight(config)) {
    const double cycles =
        vectors_cycles(a, gemm.vector_a) +
        vectors_cycles(b, gemm.vector_b, gemm.explicit_gemm ? kInstructionsPlain : kInstructionsPerVector);
    return {cycles, 0, 0, kLoadsShown * cycles};
  }
  const bool padded = problem.pad_lower != Spatial{} || problem.pad_upper != Spatial{};
  const bool walks = !gemm.explicit_gemm && (problem.filter_taps() > 1 || padded);
  const double cycles =
      (a / gemm.vector_a * kPlainAddresses + b / gemm.vector_b * (walks ? kTapAddresses : kPlainAddresses)) /
      kCdnaLanesPerCycle;
  if (gemm.load_warps > 0) return {cycles, 0, 0, 0};
  return {cycles, kAddressesOfSeveral * cycles, kAddressesOfOne * cycles, 0};
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
  const Loads loads = loads_of(config, problem);
  const double fill = (rows + columns) * deep * portable_layout::element_bytes(config) / (kFill * rates.fill);
  // Fragments that warps read and what loaders write; small tiles read the same data more often.
  const double shared = portable_layout::element_bytes(config) * deep *
                        (rows * gemm.warps.n + columns * gemm.warps.m + rows + columns) / rates.shared;
  const double hidden = kSharedShown * shared + loads.shown;
  const double start = is_cdna_weight(config) && gemm.load_warps > 0 ? kCdnaWaveletTileCycles : kTileCycles;
  const bool atomic = gemm.split_k == SplitK::kAtomic, split = gemm.split_k == SplitK::kWorkspace;
  const double out = rows * columns * (split || atomic ? 4 : size_of(output_type(config))) / kStoreBytesPerCycle *
                     (gemm.staging == Staging::kDirect || atomic ? kScatteredStore : 1);
  // Blocks of one multiprocessor share its rates and hide each other's waits.
  const double resident = resident_blocks(config);
  const double mean = work.blocks / work.tiles;
  const double waves = ceil_div(work.tiles, rates.units * resident);
  const double held = std::min(resident, ceil_div(work.tiles, rates.units));
  const double shared_rate = held * (mean * (std::max({products + loads.shared, loads.cycles, fill}) + hidden) + out);
  const double alone = mean * (std::max(products + loads.alone, loads.cycles) + hidden + loop.exposed) + out + start;
  const double launch = kLaunch * rates.launch_cycles();
  double cycles =
      launch + kFirstData * rates.first_data_cycles() +
      std::max(waves * std::max(shared_rate + start, alone), tensor_bytes(problem) / rates.memory_per_cycle());
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
