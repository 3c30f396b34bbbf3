// SPDX-License-Identifier: Apache-2.0
#include "kernels/tma_weight_few/view.h"

#include "kernels/tma_weight_few/kind.h"

#include <algorithm>
#include <cmath>

#include "base/integers.h"
#include "kernels/tma/cost.h"

namespace wt {

using namespace tma_model;

namespace {

// What is this kernel's own is adjusted to 16 timed runs on four layers.
double cycles_of(const KernelConfig& config, const ConvProblem& problem, const WeightFewView& view,
                 const Rates& rates) {
  const GemmConfig& gemm = config.gemm;
  const double consumers = gemm.tile.n / 64.0, columns = gemm.tile.m, taps = weight_few::taps(config);
  const auto units = static_cast<double>(rates.units), blocks = static_cast<double>(view.tiles() * view.splits);
  const double instructions = consumers * weight_few::steps(config) * taps;
  const double patch = weight_few::patch_height(config) * weight_few::kPitch;
  const double bytes = weight_few::image_bytes(config) + patch * columns * 2;
  // Shared memory gives columns to each instruction and pixels to each step, and takes what is loaded.
  const double reads = instructions * columns * 32 + consumers * weight_few::steps(config) * 2048;
  const double products = std::max(instructions * columns / 2, (reads + bytes) / rates.shared);
  // Load warps copy a vector of a column of pixels after the other.
  constexpr double kCopyCycles = 45, kPatchCycles = 400;
  const double passes = std::ceil(weight_few::kPitch * columns / gemm.vector_a / (32.0 * gemm.load_warps));
  const double copies = passes * weight_few::patch_height(config) * kCopyCycles + kPatchCycles;
  const double fill = bytes / std::min(rates.fill, rates.fill_all / std::min(blocks, units));
  constexpr double kStage = 1.25;  // waits between stages
  const double stage = std::max({products, copies, fill}) * kStage;
  constexpr double kStoreRate = 30;
  const double output = 4 * gemm.tile.n * columns * taps / kStoreRate;
  const double busy = std::ceil(blocks / units) * (static_cast<double>(view.blocks_per_split) * stage + output);
  const double read = static_cast<double>(problem.x_elements() + problem.y_elements()) * 2 / rates.memory_per_cycle();
  const double parts = static_cast<double>(problem.w_elements()) * 4 * static_cast<double>(view.splits + 1);
  return rates.launch_cycles() + rates.first_data_cycles() + std::max(busy, read) + rates.launch_cycles() / 2 +
         parts / rates.memory_per_cycle();
}

}  // namespace

WeightFewView weight_few_view(const KernelConfig& config, const View& seen, int asked) {
  const ConvProblem& problem = seen.problem();
  const Rates& rates = seen.rates();
  WeightFewView view;
  view.tiles_h = ceil_div(problem.in[1], weight_few::tile_height(config));
  view.tiles_w = ceil_div(problem.in[2], weight_few::kEdge);
  view.blocks = problem.n * view.tiles_h * view.tiles_w;
  view.tap_groups = weight_few::kFilter / weight_few::tap_rows(config);
  view.channel_blocks = ceil_div(problem.c, config.gemm.tile.n);
  const auto cut = [&](int64_t splits) {
    WeightFewView result = view;
    result.blocks_per_split = std::max<int64_t>(1, ceil_div(view.blocks, splits));
    result.splits = std::max<int64_t>(1, ceil_div(view.blocks, result.blocks_per_split));
    result.cycles = cycles_of(config, problem, result, rates);
    return result;
  };
  if (asked > 0) return cut(asked);
  WeightFewView best = cut(1);
  const int64_t most = std::max<int64_t>(1, rates.units / view.tiles());
  for (int64_t splits = 2; splits <= most; ++splits) {
    if (const WeightFewView tried = cut(splits); tried.cycles < best.cycles) best = tried;
  }
  return best;
}

double tma_weight_few_kind::predict(const KernelConfig& config, const View& seen, int splits) {
  return weight_few_view(config, seen, splits).cycles / seen.rates().clock;
}

}  // namespace wt
