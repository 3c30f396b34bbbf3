// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave/cost.cc - predicted times of CDNA's four-wave kernels.
//
// Nothing here is measured: rates are those of launch/rates.cc, and how much of them is reached is a guess. They
// order the kernel's own tiles and loaders.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "config/targets.h"
#include "kernels/four_wave/device/layout.h"
#include "kernels/four_wave/kind.h"
#include "kernels/four_wave/view.h"
#include "kernels/resources.h"
#include "kernels/shared/tma_maps.h"
#include "problem/traffic.h"

namespace wt {
namespace {

// Guesses, but for what the manual says of instructions.
constexpr double kReached = 0.6;             // of the matrix unit's peak
constexpr double kExposed = 0.3;             // of what fills shared memory and reads fragments from it
constexpr double kBarrierCycles = 80;        // per k-block
constexpr double kConversions = 12;          // vector instructions, for four e4m3 numbers as FNUZ
constexpr double kConverted = 0.5;           // of their time, what products do not hide
constexpr double kLoadCycles = 450;          // of a load, what gfx950's products of a k-block do not hide
constexpr double kTileCycles = 2500;         // coordinates, first data, the output's way through shared memory
constexpr double kStoreBytes = 32;           // per cycle
constexpr double kLaunch = 1.4;              // of the machine's
constexpr double kLoadInstructions = 8;      // for a vector of one row under its own tap
constexpr double kTapInstructions = 16;      // to find that tap
constexpr double kCyclesPerInstruction = 4;  // a wave of 64 on a SIMD of 16
constexpr int64_t kMostBlocks = 4;           // of a compute unit
constexpr int kRegisters = 96;               // of a lane, beside accumulators

// What finding each vector's tap takes per k-block. Other loaders find addresses by a few scalar instructions.
double lane_cycles(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  const double bytes = gemm.vector_a * size_of(operand_a(config));
  const double vectors = four_wave_layout::kChunkBytes / bytes;
  const double rows_a = double{1} * four_wave_layout::a_bytes(config) / 4096;
  const double rows_b = double{1} * four_wave_layout::b_bytes(config) / 4096;
  double instructions = vectors * (rows_a + rows_b) * 2;
  if (gemm.loader_a == Loader::kBufferLane) instructions += vectors * (kTapInstructions + rows_a * kLoadInstructions);
  return instructions * kCyclesPerInstruction;
}

// What e4m3 as FNUZ numbers takes of a SIMD per k-block, whose instructions several blocks share.
double convert_cycles(const KernelConfig& config) {
  if (!four_wave_layout::converts(config)) return 0;
  const double words = (four_wave_layout::a_bytes(config) + four_wave_layout::b_bytes(config)) / 4.0;
  return kConverted * kConversions * kCyclesPerInstruction * words / four_wave_layout::kThreads;
}

}  // namespace

double four_wave_kind::predict(const KernelConfig& config, const View& seen, int) {
  const ConvProblem& problem = seen.problem();
  const Rates& rates = seen.rates();
  const TargetInfo& target = info_of(config.target);
  const auto& tile = config.gemm.tile;
  const double products = rates.macs(operand_a(config));
  const FourWaveView& view = FourWaveView::of(seen);
  const int64_t tiles = view.tiles(config);
  if (tiles == 0) return kLaunch * rates.launch_us;
  double all_blocks = 0;
  for (const FourWavePart& part : view.parts) {
    all_blocks += static_cast<double>(view.tiles_m(part, tile.m) * ceil_div(view.columns, tile.n) * view.g *
                                      std::max<int64_t>(1, ceil_div(part.tap_count() * view.channels, tile.k)));
  }
  const double blocks_k = all_blocks / static_cast<double>(tiles);
  const double multiply = double{1} * tile.m * tile.n * tile.k / (products * kReached);
  const double fill = (four_wave_layout::a_bytes(config) + four_wave_layout::b_bytes(config)) / rates.fill;
  // Blocks that share a compute unit share its rates, and hide each other's waits and ends.
  const int64_t resident =
      std::clamp<int64_t>(std::min<int64_t>(target.shared_per_unit / four_wave_layout::shared_bytes(config),
                                            target.registers_per_thread / (accumulators_of(config) + kRegisters)),
                          1, kMostBlocks);
  const auto units = static_cast<double>(rates.units);
  const double sharing = std::min(static_cast<double>(resident), std::ceil(static_cast<double>(tiles) / units));
  // Every wave reads its half of both operands.
  const double read = 2.0 * (four_wave_layout::a_bytes(config) + four_wave_layout::b_bytes(config)) / rates.shared;
  // What a block waits for its loads, the others' products fill.
  const double hidden = (sharing - 1) * multiply;
  const double waits = config.target == Target::kGfx950 ? std::max(0.0, kLoadCycles - hidden) / sharing : 0;
  const double block = std::max(multiply, fill) + kExposed * (fill + read) +
                       (kBarrierCycles + lane_cycles(config)) / sharing + waits + convert_cycles(config);
  const double output = double{1} * tile.m * tile.n * size_of(output_type(config)) / kStoreBytes;
  const double in_turn = std::ceil(static_cast<double>(tiles) / units);  // of the unit with most
  const double busy = in_turn * (blocks_k * block + output + kTileCycles / sharing);
  double before = kLaunch * rates.launch_us;
  if (config.direction == Direction::kBackwardData) {  // the filter is transposed first
    before += rates.launch_us / 2 + 2.0 * static_cast<double>(problem.w_elements()) * size_of(problem.w) / rates.memory;
  }
  if (config.gemm.aligned_copy) {  // the operands are copied first, but for a filter that is transposed
    const bool forward = config.direction == Direction::kForward;
    const int64_t bytes = forward ? problem.x_elements() + problem.w_elements() : problem.y_elements();
    before += rates.launch_us / 2 + 2.0 * static_cast<double>(bytes) / rates.memory;
  }
  return before + std::max(busy / rates.clock, tensor_bytes(problem) / rates.memory);
}

}  // namespace wt
