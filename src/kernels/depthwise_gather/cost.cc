// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_gather/cost.cc - predicted times of gathering kernels.
#include <algorithm>
#include <cmath>

#include "kernels/depthwise_gather/device/tile_shape.h"
#include "kernels/depthwise_gather/kind.h"
#include "kernels/shared/direct_cost.h"
#include "kernels/shared/direct_geometry.h"

namespace wt {
namespace {

using namespace direct_model;

constexpr double kGatherShare = 0.15;
constexpr double kSlidingShare = 0.35;
constexpr double kTileShare = 0.41;  // 72 instructions of 100 multiply, where sliding has 61; not measured

double gather_us(const KernelConfig& config, const ConvProblem& p, const Rates& rates) {
  const int width = config.layout == Layout::kChannelsLast ? config.direct.vector_out : config.direct.sub_w;
  const double rows = static_cast<double>(p.filter[0] * p.filter[1]), pixels = config.direct.sub_w;
  // Every tap reads its pixel again, from the caches, unless threads slide along rows.
  const bool sliding = config.fixed.stride_w == 1;
  const double again =
      sliding ? rows * (pixels + static_cast<double>(p.filter[2]) - 1) / pixels : static_cast<double>(p.filter_taps());
  const double memory = bytes_us(p, rates) * (kStreamBytes + narrow(width * size_of(p.y))) * (1 + 0.25 * again);
  const double share = (sliding ? kSlidingShare : kGatherShare) * std::min(1.0, width / 4.0);
  // What runs took of this: 1.7 to 3.9 where every tap reads again, the median of 29; strided backward data as
  // predicted.
  constexpr double kMeasured = 2.3;
  constexpr double kMeasuredMultiple = 1.7;  // of several output channels of an input channel
  const bool strided = p.direction == Direction::kBackwardData && p.stride[2] > 1;
  const double measured = !strided ? kMeasured : p.k_per_group() > 1 ? kMeasuredMultiple : 1;
  const double busy = std::max(memory, multiply_us(p, rates, share)) * measured;
  // A thread takes taps one after the other: of 25 and 49 each waited for so long. Larger filters were not timed.
  constexpr double kTapUs = 0.24, kTimedTaps = 49;
  return std::max(busy, kTapUs * std::min(kTimedTaps, static_cast<double>(p.filter_taps())));
}

// Rows in shared memory: threads beyond the image's edge wait, and neighbouring blocks read the halo between them
// again.
double gather_tile_us(const KernelConfig& config, const ConvProblem& p, const Rates& rates) {
  const GatherTileCut cut = cut_gather_tile(config, p);
  const Spatial size = p.direction == Direction::kBackwardData ? p.in : p.out();
  const auto columns = static_cast<double>(cut.runs * config.direct.sub_w), rows = static_cast<double>(cut.rows);
  const double covered = columns * static_cast<double>(cut.column_tiles) * rows * static_cast<double>(cut.row_tiles);
  const double threads = static_cast<double>(cut.runs * cut.rows * gather_tile::kLanes) / config.direct.block_size;
  const double used = static_cast<double>(size[1] * size[2]) / covered * threads;
  const double waves = std::ceil(static_cast<double>(cut.grid) / (rates.units * config.min_blocks));
  const double filled = static_cast<double>(cut.grid) / (waves * rates.units * config.min_blocks);
  const double again =
      (rows + static_cast<double>(p.filter[1]) - 1) / rows * (columns + static_cast<double>(p.filter[2]) - 1) / columns;
  // A row of the filter costs as much as four taps before its first; a block's first rows come before any product.
  const double taps = static_cast<double>(p.filter[2]) / static_cast<double>(p.filter[2] + 4);
  const double memory = bytes_us(p, rates) * (kStreamBytes + 0.25 * (again - 1)) / filled;
  return memory / 2 + std::max(memory, multiply_us(p, rates, kTileShare * used * filled * taps));
}

}  // namespace

double depthwise_gather_kind::predict(const KernelConfig& config, const View& seen, int) {
  const ConvProblem& problem = seen.problem();
  if (problem.output_elements() == 0) return launch_us(seen.rates());
  // WHY: measured once, on one input channel of 32 outputs, whose image is read again for each.
  const double outputs = static_cast<double>(problem.k_per_group()) / static_cast<double>(problem.c_per_group());
  const double busy = config.direct.prefetch > 1
                          ? gather_tile_us(config, problem, seen.rates())
                          : gather_us(config, problem, seen.rates()) * (1 + std::max(0.0, outputs - 1) / 4);
  return whole_us(seen, busy, 1.8, {});
}

}  // namespace wt
