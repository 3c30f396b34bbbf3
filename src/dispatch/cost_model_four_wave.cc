// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model_four_wave.cc - predicted times of CDNA's four-wave kernels (kernel/gemm/four_wave).
//
// Nothing here is measured: rates are the vendor's published peaks, and how much of them is reached is a guess. They
// order the kernel's own tiles and loaders.
#include <algorithm>
#include <cmath>

#include "base/check.h"
#include "config/targets.h"
#include "dispatch/cost_model.h"
#include "dispatch/tma_maps.h"
#include "kernel/gemm/four_wave/layout.h"

namespace wt {
namespace {

// One compute unit, a cycle.
struct Rates {
  Target target;
  double clock_mhz;
  double products;      // 16-bit multiply-adds of the matrix unit
  double fp8_products;  // 0: it has none
  double memory_bytes;  // of the whole device
};
constexpr Rates kRates[] = {{Target::kGfx90a, 1700, 512, 0, 960},
                            {Target::kGfx942, 2100, 1024, 2048, 2520},
                            {Target::kGfx950, 2400, 2048, 4096, 3330}};

constexpr double kReached = 0.6;       // of the matrix unit's peak
constexpr double kFillBytes = 64;      // from the L2 to a compute unit, a cycle
constexpr double kExposed = 0.3;       // of what fills shared memory and reads fragments from it
constexpr double kSharedBytes = 128;   // from shared memory, a cycle
constexpr double kBarrierCycles = 80;  // a k-block
constexpr double kTileCycles = 2500;   // coordinates, first data, the output's way through shared memory
constexpr double kStoreBytes = 32;     // a cycle
constexpr double kLaunchUs = 6;
constexpr double kLoadInstructions = 8;     // for a vector of one row under its own tap
constexpr double kTapInstructions = 16;     // to find that tap
constexpr double kCyclesAnInstruction = 4;  // a wave of 64 on a SIMD of 16
constexpr int64_t kMostBlocks = 4;          // of a compute unit

const Rates& rates_of(Target target) {
  for (const Rates& rates : kRates)
    if (rates.target == target) return rates;
  WT_CHECK(false, "no rates of {}", info_of(target).name);
}

// What finding each vector's tap takes a k-block. Other loaders find addresses by a few scalar instructions.
double lane_cycles(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  const double bytes = gemm.vector_a * size_of(config.x);
  const double vectors = four_wave_layout::kChunkBytes / bytes;
  const double rows_a = double{1} * four_wave_layout::a_bytes(config) / 4096;
  const double rows_b = double{1} * four_wave_layout::b_bytes(config) / 4096;
  double instructions = vectors * (rows_a + rows_b) * 2;
  if (gemm.loader_a == Loader::kBufferLane) instructions += vectors * (kTapInstructions + rows_a * kLoadInstructions);
  return instructions * kCyclesAnInstruction;
}

}  // namespace

double predicted_four_wave_us(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const Rates& rates = rates_of(config.target);
  const TargetInfo& target = info_of(config.target);
  const auto& tile = config.gemm.tile;
  const double products = size_of(config.x) == 1 ? rates.fp8_products : rates.products;
  const int64_t tiles =
      ceil_div(problem.n * pixels(problem.out()), tile.m) * ceil_div(problem.k_per_group(), tile.n) * problem.g;
  if (tiles == 0) return kLaunchUs;
  const auto blocks_k = static_cast<double>(ceil_div(problem.filter_taps() * problem.c_per_group(), tile.k));
  const double multiply = double{1} * tile.m * tile.n * tile.k / (products * kReached);
  const double fill = (four_wave_layout::a_bytes(config) + four_wave_layout::b_bytes(config)) / kFillBytes;
  // Blocks that share a compute unit share its rates, and hide each other's waits and ends.
  const int64_t resident =
      std::clamp<int64_t>(target.shared_per_unit / four_wave_layout::shared_bytes(config), 1, kMostBlocks);
  const auto units = static_cast<double>(multiprocessors);
  const double sharing = std::min(static_cast<double>(resident), std::ceil(static_cast<double>(tiles) / units));
  // Every wave reads its half of both operands.
  const double read = 2.0 * (four_wave_layout::a_bytes(config) + four_wave_layout::b_bytes(config)) / kSharedBytes;
  const double block =
      std::max(multiply, fill) + kExposed * (fill + read) + (kBarrierCycles + lane_cycles(config)) / sharing;
  const double output = double{1} * tile.m * tile.n * size_of(config.y) / kStoreBytes;
  const double waves = std::ceil(static_cast<double>(tiles) / (units * sharing)) * sharing;
  const double busy = waves * (blocks_k * block + output + kTileCycles / sharing);
  const double bytes = static_cast<double>(problem.x_elements()) * size_of(problem.x) +
                       static_cast<double>(problem.w_elements()) * size_of(problem.w) +
                       static_cast<double>(problem.y_elements()) * size_of(problem.y);
  return kLaunchUs + std::max(busy, bytes / rates.memory_bytes) / rates.clock_mhz;
}

}  // namespace wt
