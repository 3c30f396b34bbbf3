// SPDX-License-Identifier: Apache-2.0
// kernels/four_wave_weight/cost.cc - predicted times of the four-wave weight gradient.
//
// Nothing here is measured. Shares of the matrix unit follow from the loop's instructions (`wavetile targets --loops`);
// the rest is as guessed for the forward kernels.
#include <algorithm>
#include <cmath>

#include "base/integers.h"
#include "config/targets.h"
#include "kernels/four_wave/device/layout.h"
#include "kernels/four_wave_weight/kind.h"
#include "problem/traffic.h"

namespace wt {
namespace {

constexpr double kReached = 0.5;       // of the matrix unit's peak
constexpr double kExposed = 0.3;       // of what fills shared memory and reads fragments from it
constexpr double kBarrierCycles = 80;  // per k-block
constexpr double kTileCycles = 3000;   // places of pixels, first data, the output's way through shared memory
constexpr double kStoreBytes = 32;     // per cycle
constexpr double kLaunch = 1.4;        // of the machine's
// Addresses of a k-block's pixels and turning them: instructions of a wave, of which the loop hides most.
constexpr double kTurnCycles = 480, kTurnShown = 0.25;

}  // namespace

double four_wave_weight_kind::predict(const KernelConfig& config, const View& seen, int asked) {
  const ConvProblem& problem = seen.problem();
  const Rates& rates = seen.rates();
  const auto& tile = config.gemm.tile;
  const FourWaveParts parts = four_wave_parts(config, seen, asked);
  const double operands = four_wave_layout::a_bytes(config) + four_wave_layout::b_bytes(config);
  const double multiply = double{1} * tile.m * tile.n * tile.k / (rates.macs(config.x) * kReached);
  const double fill = operands / rates.fill, read = 2 * operands / rates.shared;
  const int64_t resident =
      std::clamp<int64_t>(info_of(config.target).shared_per_unit / four_wave_layout::shared_bytes(config), 1, 2);
  const double blocks = static_cast<double>(parts.tiles * parts.splits), units = rates.units;
  const double sharing = std::min(static_cast<double>(resident), std::ceil(blocks / units));
  const double turn = kTurnCycles * operands / 32768;
  const double step =
      std::max({multiply, fill, turn}) + kExposed * (fill + read) + kTurnShown * turn + kBarrierCycles / sharing;
  const double output = double{1} * tile.m * tile.n * 4 / kStoreBytes;
  const double waves = std::ceil(blocks / (units * sharing)) * sharing;
  const double busy = waves * (static_cast<double>(parts.blocks_per_split) * step + output + kTileCycles / sharing);
  double us = kLaunch * rates.launch_us + std::max(busy / rates.clock, tensor_bytes(problem) / rates.memory);
  if (config.gemm.split_k == SplitK::kWorkspace) {
    us += rates.launch_us / 2 +
          static_cast<double>(problem.w_elements()) * 4 * static_cast<double>(parts.splits + 1) / rates.memory;
  }
  return us;
}

}  // namespace wt
