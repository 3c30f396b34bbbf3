// SPDX-License-Identifier: Apache-2.0
// kernels/groups/cost.cc - predicted times of kernels for small groups.
#include <algorithm>
#include <cmath>

#include "kernels/groups/device/shape.h"
#include "kernels/groups/kind.h"
#include "kernels/shared/direct_cost.h"
#include "kernels/shared/direct_geometry.h"

namespace wt {
namespace {

using namespace direct_model;

constexpr double kGroupsBytes = 1.0;
constexpr double kEnteredSteps = 1.4;

// Copies, and the matrix products of whole tiles of positions, of which half is taken to be hidden. Backward weight
// writes its partial sums and reads them again.
double groups_us(const KernelConfig& config, const ConvProblem& p, const Rates& rates) {
  const GroupsCut cut = cut_groups(config, p, rates.units);
  const double capacity = static_cast<double>(rates.units) * config.min_blocks;
  const double waves = std::ceil(static_cast<double>(cut.grid) / capacity);
  const double rows = cut.steps;
  // One tile of positions and one step: every tap meets every channel of the bundle, two chunks at a time.
  double chunk_pairs = 0;
  const int bundle_chunks = groups::bundle(config) / kChunkChannels, filter_w = config.fixed.filter_w;
  for (int phase = 0; phase < groups::out_cols(config); ++phase) {
    const int columns = groups::ceil_div(filter_w - phase, groups::out_cols(config));
    chunk_pairs += groups::ceil_div(columns * bundle_chunks, 2);
  }
  const double products = chunk_pairs * config.fixed.filter_h * (groups::channels(config) / 8.0) *
                          (config.direct.tile_w / static_cast<double>(kTilePositions));
  double bytes = bytes_us(p, rates);
  if (p.direction == Direction::kBackwardWeight)
    bytes += bytes_us(8.0 * static_cast<double>(p.w_elements() * (cut.grid / cut.channel_blocks)), rates);
  // Neighbouring segments read the columns between them twice. On an H200, 16 warps of one block were a little faster
  // than 8 at stride 2.
  const double columns =
      static_cast<double>(groups::window(config, static_cast<int>(cut.columns))) / static_cast<double>(cut.columns);
  const bool lone = config.min_blocks == 1 && config.fixed.stride_h == 1 && p.direction != Direction::kBackwardWeight;
  const bool short_rows = config.direct.tile_w < 64 && config.fixed.stride_h == 1 && p.dims == 2;
  const double warps = config.direct.block_size > 256 ? 0.93 : lone || short_rows ? 1.08 : 1;
  const double memory = kGroupsBytes * warps * bytes * columns * waves * capacity / static_cast<double>(cut.grid);
  const double multiply = waves * config.min_blocks * rows * products / matrix_products_per_us(rates);
  // In one dimension every step enters another segment; not measured.
  const double entered = p.dims == 1 ? kEnteredSteps : 1;
  return entered * (std::max(memory, multiply) + std::min(memory, multiply) / 2) + 0.01 * config.direct.prefetch;
}

}  // namespace

double groups_kind::predict(const KernelConfig& config, const View& seen, int) {
  const ConvProblem& problem = seen.problem();
  if (problem.output_elements() == 0) return launch_us(seen.rates());
  const Gradient gradient{1.586, groups::bundle(config) > 8 ? 1.45 : 1.05};
  return whole_us(seen, groups_us(config, problem, seen.rates()), 1.8, gradient);
}

}  // namespace wt
