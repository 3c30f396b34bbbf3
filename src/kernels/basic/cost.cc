// SPDX-License-Identifier: Apache-2.0
// kernels/basic/cost.cc - predicted times of the generic kernel (kernels/basic/device/kernel.h).
//
// It waits for its own address arithmetic: a k-block and the end of a tile take the same time whatever the problem, and
// blocks of a multiprocessor take turns. Fitted on 93 timed layers on an H200, all of the
// tile 64x64x32: half of them within 5 %, all within 30 %; the file is no longer kept. Other tiles are scaled.
#include <algorithm>
#include <cmath>

#include "kernels/basic/kind.h"
#include "problem/gemm_view.h"

namespace wt {
namespace {

constexpr double kLaunch = 0.846;        // of the machine's, by eye
constexpr double kBlockUs = 5.3;         // a k-block of the 64x64x32 tile, 32 elements per thread
constexpr double kTileUs = 7.5;          // coordinates of rows, and the output
constexpr double kElements = 32;         // of a thread, in that time
constexpr double kStridedFactor = 2.2;   // backward data divides every position by the stride
constexpr double kFittedMhz = 1755;      // of the H200 that the times are of
constexpr double kThreadsPerUnit = 512;  // that run at a time

}  // namespace

double basic_kind::predict(const KernelConfig& config, const View& seen, int) {
  const Rates& rates = seen.rates();
  const ConvProblem& problem = seen.problem();
  const GemmConfig& gemm = config.gemm;
  const GemmView view = gemm_view(problem);
  const auto tiles_along = [](int64_t size, int tile) { return std::ceil(static_cast<double>(size) / tile); };
  const double tiles =
      tiles_along(view.m, gemm.tile.m) * tiles_along(view.n, gemm.tile.n) * static_cast<double>(view.batch);
  const double threads = 32.0 * gemm.warps.m * gemm.warps.n * gemm.warps.k;
  const double elements = (gemm.tile.m + gemm.tile.n) * gemm.tile.k / threads;
  const double rounds = std::ceil(tiles * threads / (kThreadsPerUnit * rates.units));
  const double factor = problem.direction == Direction::kBackwardData ? kStridedFactor : 1;
  const double block = kBlockUs * factor * elements / kElements;
  // Address arithmetic goes with the clock.
  const double slower = kFittedMhz / rates.clock;
  return kLaunch * rates.launch_us +
         slower * rounds * (tiles_along(view.k, gemm.tile.k) * block + kTileUs * elements / kElements);
}

}  // namespace wt
