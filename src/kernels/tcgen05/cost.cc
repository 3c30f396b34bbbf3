// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/cost.cc - predicted times of kind tcgen05. Nothing here was measured: no such GPU was at hand.
//
// Cycles of products are published ones (B200 and GB300, by N and blocks); the rest are the rates of launch/rates.cc
// and guesses. What adds up how is as on Hopper (kernels/tma/cost.h).
#include "kernels/tcgen05/cost.h"

#include <algorithm>
#include <cmath>

#include "base/integers.h"
#include "kernels/shared/split.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tcgen05/kind.h"
#include "kernels/tma/cost.h"
#include "kernels/tma/seen.h"
#include "problem/measures.h"

namespace wt {

using namespace tma_model;
using namespace tcgen05_model;

namespace {

// Of a block, beside its first data: the wait for the last sums and the blocks' farewell. A guess. Barriers, tensor
// memory and the first answer come while the first data do.
constexpr double kStartCycles = 400;
constexpr double kTakenCycles = 60;    // of a tile that launch control hands out, beside the products; a guess
constexpr double kScaleCycles = 1000;  // of a stage's scales, on their way to shared memory; a guess
constexpr double kStoredBytes = 32;    // per cycle, of a tile's output; a guess

Tiles tiles_of(const KernelConfig& config, const View& seen) {
  const GemmConfig& gemm = config.gemm;
  const ConvProblem& problem = seen.problem();
  const Facts& facts = facts_of(seen);
  const bool forward = problem.direction == Direction::kForward;
  const int64_t merged = gemm.groups_per_tile;
  const int64_t depth = (forward ? problem.c_per_group() : problem.k_per_group()) * merged;
  const int64_t columns = (forward ? problem.k_per_group() : problem.c_per_group()) * merged;
  const int64_t tiles_n =
      ceil_div(columns, gemm.tile.n * gemm.cluster_n) * gemm.cluster_n * std::max<int64_t>(1, problem.g / merged);
  const int64_t depth_blocks = ceil_div(depth, tma_layout::box_k(config));
  const bool divides = tma_layout::divides_by_taps(config) && !facts.divided.empty();
  Tiles tiles;
  double stages = 0;
  for (const Rows& rows : divides ? facts.divided : facts.rows) {
    const int64_t part = ceil_div(rows.count, gemm.tile.m * gemm.cluster_m) * gemm.cluster_m * tiles_n;
    const auto deep = static_cast<double>(ceil_div(rows.taps * depth_blocks, tma_layout::boxes(config)));
    tiles.count += part;
    stages += static_cast<double>(part) * deep;
    if (part > 0) tiles.longest = std::max(tiles.longest, deep);
  }
  if (tiles.count > 0) tiles.mean = stages / static_cast<double>(tiles.count);
  return tiles;
}

// Rows of a tile that copies bring: of one tile alone no more than there are pixels (kernels/tma/bind.cc).
double copied_rows(const KernelConfig& config, const Facts& facts) {
  int64_t most = 0;
  for (const Rows& rows : facts.rows) most = std::max(most, rows.count);
  return tcgen05_layout::copied_rows(config, most);
}

Stage stage_of(const KernelConfig& config, const View& seen) {
  const GemmConfig& gemm = config.gemm;
  const Facts& facts = facts_of(seen);
  const BoxParts parts = box_parts(config, seen.problem(), facts);
  const int blocks = tcgen05_layout::blocks(config);
  const double deep = gemm.tile.k * size_of(operand_a(config));
  const double steps = deep / 32 * parts.multiplied * (tma_layout::three_products(config) ? 3 : 1);
  const double rows_a = copied_rows(config, facts) * facts.crossed, rows_b = tcgen05_layout::columns(config);
  Stage stage;
  stage.products = steps * instruction_cycles(gemm.tile.n, blocks == 2);
  stage.filled = (rows_a / gemm.cluster_n + rows_b / gemm.cluster_m) * deep * parts.copied;
  // What copies write and products read. A pair's blocks read each their own half of both.
  stage.shared = (rows_a + rows_b) * deep + steps * 32 * (tcgen05_layout::kRows + rows_b);
  if (tma_layout::three_products(config)) stage.shared += 3 * (rows_a + rows_b) * deep;  // numbers are parted
  // Four warps gather scales, each their own slots, by loads that wait for the L2.
  if (tcgen05_layout::has_scales(config))
    stage.products = std::max(stage.products, kScaleCycles / tcgen05_layout::scale_warps(config));
  return stage;
}

struct Times {
  double overlapped, after;
};

Times times(const KernelConfig& config, const View& seen, const Tiles& tiles, const Stage& of_ring, int64_t splits) {
  const GemmConfig& gemm = config.gemm;
  const Rates& rates = seen.rates();
  const int members = tcgen05_layout::blocks(config);
  const auto parts = static_cast<double>(splits);
  const double items = static_cast<double>(tiles.count) * parts;
  const bool cluster = config.gemm.split_k == SplitK::kCluster;
  const double at_once = std::max(1.0, std::floor(static_cast<double>(rates.units) / members));
  const double waves = cluster ? split_waves(config, tiles.count, splits, rates) : std::ceil(items / at_once);
  const double stage = of_ring.cycles(rates, std::min(items, at_once) * members);
  const double bytes = double{1} * tcgen05_layout::kRows * gemm.tile.n *
                       (splits > 1 ? 4 : size_of(output_type(config))) *
                       (gemm.staging == Staging::kTmaStore ? 1
                        : gemm.staging == Staging::kShared ? 1.5
                                                           : 3);
  const double output = bytes / kStoredBytes, deep = std::ceil(tiles.mean / parts);
  // Launch control evens out tiles of different depth; a fixed walk waits for the longest.
  const double share = tcgen05_layout::takes_clusters(config)
                           ? std::max(std::ceil(tiles.longest / parts), waves * tiles.mean / parts)
                           : waves * std::max(deep, std::ceil(tiles.longest / parts) / waves);
  // All outputs but the last hide behind the next tile's products, where there are two accumulators.
  const double tile = deep * stage;
  const double hidden = gemm.double_buffer ? output + (waves - 1) * std::max(0.0, output - tile) : waves * output;
  if (cluster) {  // the exchange and the outputs as on Hopper
    const double busy = share * stage + kStartCycles + waves * kTakenCycles;
    const double rounds = waves * (tcgen05_layout::chunks(config) - 1) * kExchangeCycles;  // beside one of each tile
    return {busy * kParts, (after_parts(config, seen, waves, splits) + rounds) * kParts};
  }
  const double busy = share * stage + hidden + kStartCycles + waves * kTakenCycles;
  return {busy, splits > 1 ? after_parts(config, seen, 0, splits) : 0};
}

// What the blocks of a cluster wait for each other, a chunk of a tile at a time, and send.
double exchange_cycles(const KernelConfig& config, double members) {
  const double bytes = double{4} * tcgen05_layout::kRows * config.gemm.tile.n * (members - 1) / members;
  return bytes / kExchangeBytesPerCycle + tcgen05_layout::chunks(config) * kExchangeCycles;
}

constexpr double kStore = 30;  // bytes of a weight gradient's sums a cycle, as on Hopper

// The launch that adds parts.
double sum_cycles(const ConvProblem& problem, const Rates& rates, int64_t parts) {
  constexpr double kSumCycles = 4000;  // as on Hopper
  return rates.launch_cycles() / 2 + kSumCycles +
         static_cast<double>(problem.w_elements()) * 4 * (static_cast<double>(parts) + 0.5) / rates.memory_per_cycle();
}

// Weight gradients: tiles of the filter, as deep as there are pixels. `members` of a cluster, where they divide the
// sums.
double gradient_cycles(const KernelConfig& config, const View& asked, int64_t members, int splits) {
  const GemmConfig& gemm = config.gemm;
  const View& seen = asked.merged(gemm.groups_per_tile);
  const ConvProblem& problem = seen.problem();
  const Rates& rates = seen.rates();
  const int64_t pixel_blocks = ceil_div(problem.n * pixels(problem.out()), gemm.tile.k);
  const int64_t channel_blocks = ceil_div(problem.c_per_group(), tma_layout::box_k(config));
  const int64_t tiles = ceil_div(problem.k_per_group(), gemm.tile.m) * problem.g *
                        ceil_div(channel_blocks * pixels(problem.filter), gemm.tile.n / tma_layout::box_k(config));
  const bool parts = gemm.split_k == SplitK::kWorkspace, cluster = gemm.split_k == SplitK::kCluster;
  const int64_t count =
      cluster ? members
      : parts ? split_count(asked, split_input(config, tiles, pixel_blocks, rates.units, problem.w_elements(), splits))
              : 1;
  const Facts& facts = facts_of(asked);
  const int blocks = tcgen05_layout::blocks(config);
  const double items = static_cast<double>(tiles * count), at_once = std::max(1, rates.units / blocks);
  const auto clusters = static_cast<double>(resident_clusters(rates.units, static_cast<int>(members)));
  const double waves = cluster ? std::ceil(static_cast<double>(tiles) / clusters) : std::ceil(items / at_once);
  const double deep = std::ceil(static_cast<double>(pixel_blocks) / static_cast<double>(count));
  const bool three = tma_layout::three_products(config);
  const double products = 4 * instruction_cycles(gemm.tile.n, blocks == 2) * (three ? 3 : 1);
  // Three warps turn boxes of 32-bit numbers round, a box in so many cycles: as on Hopper, where it is an estimate.
  constexpr double kTurnCycles = 250;
  const double turning =
      tma_layout::turns_tiles(config) ? std::ceil((tcgen05_layout::kRows + gemm.tile.n) / 32.0 / 3) * kTurnCycles : 0;
  const double bytes = (tcgen05_layout::kRows + tcgen05_layout::columns(config)) * 128.0;
  // Boxes of rows and channels past the last are zeros, which no memory brings.
  const auto rows = static_cast<double>(std::min<int64_t>(tcgen05_layout::kRows, problem.k_per_group()));
  const double channels =
      static_cast<double>(problem.c_per_group()) / static_cast<double>(channel_blocks * tma_layout::box_k(config));
  const double brought = (rows + tcgen05_layout::columns(config) * channels) * 128.0;
  const double written = (tcgen05_layout::copied_blocks(config, problem.k_per_group()) * tma_layout::box_k(config) +
                          tcgen05_layout::columns(config)) *
                         128.0;
  const double fill = brought / gradient_fill(rates, std::min(items, at_once) * blocks);
  // Parts by pairs of columns as on Hopper (kernels/tma_weight/cost.cc), whole sums by 16 bytes of a row a thread, a
  // row a cycle; a guess.
  constexpr double kRowSumPenalty = kStore / 16;
  // Of rows and channels that exist: others are passed over.
  const double whole = rows * gemm.tile.n * channels * (parts ? 4 : 2 * kRowSumPenalty) / kStore;
  const auto shares = static_cast<double>(members);
  const double output = cluster ? exchange_cycles(config, shares) + whole / shares : whole;
  const double busy =
      waves * (deep * std::max({products, turning, fill, (written + bytes) / rates.shared}) + output) + kStartCycles;
  const double sum = parts ? sum_cycles(problem, rates, count) : 0;
  return rates.launch_cycles() + rates.first_data_cycles() + overlapped(busy, facts) * (cluster ? kParts : 1) + sum;
}

}  // namespace

double tcgen05_model::instruction_cycles(double n, bool pair) {
  const double low = pair ? 52 : 63, middle = pair ? 70 : 80, high = pair ? 134 : 141;
  if (n <= 64) return std::max(52.0, low * (128 + n) / (128 + 64));  // rows that are read
  if (n <= 128) return low + (middle - low) * (n - 64) / 64;
  return middle + (high - middle) * (n - 128) / 128;
}

double Stage::cycles(const Rates& rates, double blocks_at_work) const {
  const double fill = filled / std::min(rates.fill, rates.fill_all / std::max(1.0, blocks_at_work));
  return std::max({products, fill, shared / rates.shared});
}

int64_t tcgen05_model::best_splits(const KernelConfig& config, const View& seen, const Tiles& tiles, const Stage& stage,
                                   int asked) {
  return least_splits(config, tiles.count, tiles.longest, seen.rates().units, asked, [&](int64_t splits) {
    const Times at = times(config, seen, tiles, stage, splits);
    return at.overlapped + at.after;
  });
}

double tcgen05_model::cycles_of(const KernelConfig& config, const View& seen, const Tiles& tiles, const Stage& stage,
                                int splits) {
  const Rates& rates = seen.rates();
  const Facts& facts = facts_of(seen);
  double cycles = rates.launch_cycles();
  if (tiles.count == 0) return cycles + overlapped(0, facts);
  const int64_t parts = config.gemm.split_k == SplitK::kNone ? 1 : best_splits(config, seen, tiles, stage, splits);
  const Times at = times(config, seen, tiles, stage, parts);
  // The filter is made or turned round before.
  if (config.gemm.groups_per_tile > 1 || tma_layout::turns_filter(config)) cycles *= 1.5;
  cycles += rates.first_data_cycles() + overlapped(at.overlapped, facts) + at.after;
  return with_aligned_copy(config, seen, cycles);
}

double tcgen05_model::gradient_fill(const Rates& rates, double blocks_at_work) {
  constexpr double kFill = 1.375, kFillAll = 1.156;
  return std::min(kFill * rates.fill, kFillAll * rates.fill_all / std::max(1.0, blocks_at_work));
}

double tcgen05_model::cycles_of(const KernelConfig&, const View& seen, const Gradient& gradient, int64_t splits) {
  const Rates& rates = seen.rates();
  const double items = static_cast<double>(gradient.tiles * splits), at_once = std::min<double>(items, rates.units);
  const double waves = std::ceil(items / rates.units);
  const double deep = std::ceil(static_cast<double>(gradient.deep) / static_cast<double>(splits));
  const double stage = std::max({gradient.stage.products, gradient.stage.filled / gradient_fill(rates, at_once),
                                 gradient.stage.shared / rates.shared});
  const double busy = waves * (deep * stage + gradient.stored / kStore) + kStartCycles;
  return rates.launch_cycles() + rates.first_data_cycles() + overlapped(busy, facts_of(seen)) +
         (splits > 1 ? sum_cycles(seen.problem(), rates, splits) : 0);
}

int64_t tcgen05_kind::planned_splits(const KernelConfig& config, const View& seen, int asked) {
  return best_splits(config, seen, tiles_of(config, seen), stage_of(config, seen), asked);
}

int64_t tcgen05_kind::planned_members(const KernelConfig& config, const View& seen, int asked) {
  const ConvProblem& problem = seen.problem();
  const int64_t pixel_blocks = ceil_div(problem.n * pixels(problem.out()), config.gemm.tile.k);
  const int64_t most = std::clamp<int64_t>(pixel_blocks, 2, tma_layout::kMaxCluster);
  if (asked > 0) return std::clamp<int64_t>(asked, 2, most);
  int64_t best = 2;
  double least = gradient_cycles(config, seen, best, asked);
  for (int64_t members = 3; members <= most; ++members) {
    const double cycles = gradient_cycles(config, seen, members, asked);
    if (cycles >= least) continue;
    least = cycles;
    best = members;
  }
  return best;
}

double tcgen05_kind::predict(const KernelConfig& config, const View& asked, int splits) {
  const View& seen = asked.seen_by(config);
  const Rates& rates = seen.rates();
  if (config.direction == Direction::kBackwardWeight) {
    const bool cluster = config.gemm.split_k == SplitK::kCluster;
    const int64_t members = cluster ? planned_members(config, seen, splits) : 1;
    return with_aligned_copy(config, seen, gradient_cycles(config, seen, members, splits)) / rates.clock;
  }
  return cycles_of(config, seen, tiles_of(config, seen), stage_of(config, seen), splits) / rates.clock;
}

}  // namespace wt
