// SPDX-License-Identifier: Apache-2.0
#include "kernels/depthwise_taps/work.h"

#include <algorithm>
#include <cmath>

#include "kernels/depthwise_taps/device/shape.h"
#include "kernels/shared/direct_cost.h"

namespace wt {
namespace {

constexpr double kSchedulers = 4;
constexpr double kHopperMacs = 2048;
constexpr double kProduct = 1.6;      // m16n8k16 of a multiprocessor of an H200
constexpr double kPasses = 4;         // of a warp's read of 16 bytes a lane, without conflicts
constexpr double kCopyBytes = 26;     // per clock, by copies of 16 bytes
constexpr double kCopyInstructions = 12, kLineInstructions = 60;
constexpr double kStepAlone = 180;    // clocks of a warp alone: reads, then products
constexpr double kPieceAlone = 250;   // before its first step
constexpr double kTileUs = 0.5;       // barriers and the wait for a tile's first data
constexpr int32_t kCountedRows = 512;

// Of all pairs of a line and a group of columns, those with a product.
double met_share(const KernelConfig& config, const DepthwiseTapsArguments& a) {
  const int32_t rows = a.from.size[1], wide = 8 * depthwise_taps::matrices(config);
  if (rows > kCountedRows || rows == 0 || a.filter[0] > 1) return 1;
  double met = 0;
  for (int32_t row = 0; row < rows; ++row) {
    for (int32_t first = 0; first < a.columns; first += wide) {
      for (int32_t column = first; column < std::min(first + wide, a.columns); ++column) {
        const int32_t scaled = row + a.pad[1] - column % a.filter[1] * a.dilation[1];
        if (scaled < 0 || scaled % a.stride[1] != 0 || scaled / a.stride[1] >= a.to.size[1]) continue;
        met += 1;
        break;
      }
    }
  }
  return met / rows / a.warp_groups;
}

}  // namespace

double taps_busy_us(const KernelConfig& config, const ConvProblem& problem, const Rates& rates,
                    const DepthwiseTapsArguments& a, int64_t resident) {
  const bool shares = depthwise_taps::shares_pixels(config);
  const double halves = config.direct.sub_w, matrices = depthwise_taps::matrices(config);
  // Of a step of a warp.
  const double reads = (shares ? 4 : 4 * halves) + 4 * matrices;
  const double words = 8 * ((shares ? 2 : 2 * halves) + 2 * matrices), products = 8 * matrices;
  const double instructions = reads + words + products + (shares && halves == 2 ? 8 : 0) + 10;

  const double warps = static_cast<double>(depthwise_taps::units(config)) * a.warp_groups;
  const double pieces = static_cast<double>(a.tile_images) * a.lines * a.chunks;
  const double steps = static_cast<double>(a.tile_images) * a.lines * a.steps * warps * met_share(config, a);
  const double tile_lines = static_cast<double>(a.tile_images) * (a.lines + a.filter[0] * a.out_lines);
  const double copied = static_cast<double>(a.shared.tile_bytes);
  const double chunks = copied / (2 * config.direct.vector_in) / 32;
  const double tensor = steps * products * kProduct * kHopperMacs / rates.macs16;
  const double shared = steps * reads * kPasses + copied / rates.shared;
  const double issue = (steps * instructions + pieces * warps * (60 + 40 * matrices) + chunks * kCopyInstructions +
                        tile_lines * kLineInstructions) /
                       kSchedulers;
  const double copies = std::max(copied / kCopyBytes, chunks * 32 * 16 / kCopyBytes);
  const double tile = std::max({tensor, shared, issue, copies}) + 0.25 * (std::min(tensor, shared) + 0.5 * issue);
  const double alone = std::ceil(pieces / a.slices) * (std::ceil(static_cast<double>(a.steps) / a.chunks) * kStepAlone +
                                                       kPieceAlone);

  const double rounds = std::ceil(static_cast<double>(a.tiles) / a.workers);
  const double blocks = std::ceil(static_cast<double>(a.workers) * a.channel_blocks / rates.units);
  const double together = std::min<double>(blocks, static_cast<double>(resident));
  const double waves = std::ceil(blocks / static_cast<double>(resident));
  const double walk = waves * rounds * std::max(tile * together, alone) / rates.clock;
  const double waits = waves * (rounds * kTileUs / (together * config.direct.prefetch) +
                                a.slices * static_cast<double>(a.columns) * 16 / 4000);
  const double memory = direct_model::bytes_us(problem, rates) * 1.1;
  return 1.1 * std::max(walk, memory) + 0.25 * std::min(walk, memory) + waits;
}

}  // namespace wt
