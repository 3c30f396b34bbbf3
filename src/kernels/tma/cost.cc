// SPDX-License-Identifier: Apache-2.0
// kernels/tma/cost.cc - predicted times of kinds tma and tma_fold, and into how many parts their
// sums go: forward and backward data here, those that load patches in tma_halo/cost.cc, weight gradients in
// tma_weight/cost.cc.
#include <algorithm>
#include <cmath>

#include "kernels/beside/stream_sum.h"
#include "kernels/shared/split.h"
#include "kernels/shared/tma_maps.h"
#include "kernels/tma/cost.h"
#include "kernels/tma/device/layout.h"
#include "kernels/tma/kind.h"
#include "kernels/tma/seen.h"
#include "kernels/tma_fold/kind.h"

namespace wt {

using namespace tma_model;

namespace {

// Fitted with those of the header.
constexpr double kShallowRing = 0.46;        // of a stage's time is lost, divided by the number of stages
constexpr double kTallTile = 1.15;           // stages of 256 rows took so much longer than predicted
constexpr double kThreeConsumers = 1.08;     // the same of 192 rows
constexpr double kWideCrosswise = 1.15;      // and of crosswise tiles of 256 channels, the median of 20
constexpr double kPingPongCrosswise = 0.88;  // of crosswise tiles in turns, one or two per block: medians of 203 runs
constexpr double kPingPongWaves = 1.06;      // of consumers in turns over more tiles: medians of 342
constexpr double kShortCrossed = 1.15;  // of tiles of up to 128 rows, and of crosswise ones, whose rows cross lines
constexpr double kSteppedRows = 1.02;   // of rows that im2col copies step over pixels for: the most of five layers
constexpr double kRaggedColumns = 1.1;  // and of columns read across, where the last block of 64 is not full

// One stage of the ring: products against copies, whichever takes longer.
double stage_cycles(const KernelConfig& config, double blocks, const View& seen) {
  const Facts& facts = facts_of(seen);
  const Rates& rates = seen.rates();
  const GemmConfig& gemm = config.gemm;
  const double deep = gemm.tile.k * size_of(operand_a(config));
  const BoxParts parts = box_parts(config, seen.problem(), facts);
  const double narrow = std::max(parts.copied, kLeastRowBytes / gemm.swizzle_a);
  // Each of two blocks that share a tile fetches half of it. It was seen to gain only where rows cross lines.
  const double crossed = facts.crossed, shared_tile = crossed > 1 ? 0.7 : 1;
  const double stepped = facts.stepped ? kSteppedRows : 1;
  const double rows_a = gemm.tile.m * narrow * crossed * stepped * (gemm.multicast_a ? shared_tile : 1);
  const double rows_b = gemm.tile.n * tma_layout::tap_columns(config) *
                        (tma_layout::b_is_mn_major(config) ? parts.copied : narrow) *
                        (gemm.multicast_b ? shared_tile : 1);
  const double bytes = (rows_a + rows_b) * deep;
  const double fill = bytes / std::min(rates.fill, rates.fill_all / std::max(1.0, blocks));
  const double crosswise = gemm.tile.n > 128 ? kWideCrosswise : 1;
  const double square = gemm.tile.m > 192 ? kTallTile : gemm.tile.m > 128 ? kThreeConsumers : 1;
  // Rows that cross lines want tall tiles, where few columns share them.
  const double lines = crossed == 1 || gemm.tile.n > 64 ? square : gemm.tile.m > 128 ? 1 : kShortCrossed;
  const double tall = !tma_layout::crosswise(config) ? lines : crossed == 1 ? crosswise : crosswise * kShortCrossed;
  const double ragged = tma_layout::b_is_mn_major(config) && gemm.tile.n % 64 != 0 ? kRaggedColumns : 1;
  const double products = tma_layout::three_products(config) ? three_product_cycles(config, deep, rates)
                                                             : mma_cycles(config, deep) * parts.multiplied;
  return std::max(products, fill) * (1 + kShallowRing / gemm.stages) * tall * ragged;
}

// The tiles of a forward or backward-data problem and how deep their sums are, in stages of tile.k.
struct Tiles {
  int64_t count = 0;
  double mean = 0, longest = 0;
  double last = 0;  // the shortest of a list that begins with the longest; 0: all are as deep
};

// Where taps lie side by side, the pixels that they read.
int64_t rows_of(const KernelConfig& config, const ConvProblem& problem, const Rows& rows) {
  if (!tma_layout::folds_taps(config)) return rows.count;
  const int64_t wide = std::max<int64_t>(1, problem.out()[2]);
  return rows.count / wide * (wide + tma_layout::fold_reach(config));
}

Tiles tiles_of(const KernelConfig& config, const View& seen) {
  const GemmConfig& gemm = config.gemm;
  const ConvProblem& problem = seen.problem();
  const int box = tma_layout::box_k(config), boxes = tma_layout::boxes(config);
  const bool forward = problem.direction == Direction::kForward;
  const int64_t merged = gemm.groups_per_tile;
  const int64_t depth_blocks = ceil_div((forward ? problem.c_per_group() : problem.k_per_group()) * merged, box);
  const int64_t columns = (forward ? problem.k_per_group() : problem.c_per_group()) * merged;
  // Blocks that share operands take their tiles together, those past the edge too.
  const int64_t tiles_n =
      ceil_div(columns, gemm.tile.n * gemm.cluster_n) * gemm.cluster_n * std::max<int64_t>(1, problem.g / merged);
  Tiles tiles;
  double stages = 0;
  const Facts& facts = facts_of(seen);
  const bool divides = tma_layout::divides_by_taps(config) && !facts.divided.empty();
  for (const Rows& rows : divides ? facts.divided : facts.rows) {
    // Pixels without taps are memory traffic, beside the products.
    if (rows.taps == 0 && tma_layout::writes_zeros(config)) continue;
    const int64_t along_m =
        tma_layout::raw_patches(config)
            ? problem.in[2] * ceil_div(problem.n, gemm.tile.m * gemm.cluster_m) * gemm.cluster_m
            : ceil_div(rows_of(config, problem, rows), tma_layout::tile_rows(config) * gemm.cluster_m) * gemm.cluster_m;
    const int64_t part = along_m * tiles_n;
    const auto deep = static_cast<double>(ceil_div(rows.taps / tma_layout::tap_columns(config) * depth_blocks, boxes));
    tiles.count += part;
    stages += static_cast<double>(part) * deep;
    if (part == 0) continue;
    tiles.last = tiles.longest == 0 ? deep : std::min(tiles.last, deep);
    tiles.longest = std::max(tiles.longest, deep);
  }
  if (!tma_layout::lists_work(config) || tiles.last == tiles.longest) tiles.last = 0;
  if (tiles.count > 0) tiles.mean = stages / static_cast<double>(tiles.count);
  return tiles;
}

// The sums of `splits` parts each.
Busy split_cycles(const KernelConfig& config, const View& seen, const Tiles& tiles, int64_t splits) {
  const Rates& rates = seen.rates();
  const auto parts = static_cast<double>(splits);
  const double waves = split_waves(config, tiles.count, splits, rates);
  const double blocks = std::min(static_cast<double>(tiles.count) * parts, static_cast<double>(rates.units));
  const double stage = stage_cycles(config, blocks, seen);
  const double products = std::max(std::ceil(tiles.longest / parts), waves * std::ceil(tiles.mean / parts)) * stage;
  return {products + waves * kTileCycles, after_parts(config, seen, waves, splits)};
}

int64_t best_splits(const KernelConfig& config, const View& seen, const Tiles& tiles, int asked) {
  return least_splits(config, tiles.count, tiles.longest, seen.rates().units, asked,
                      [&](int64_t splits) { return split_cycles(config, seen, tiles, splits).sum(); });
}

// Stream-K: whole rounds of tiles, an even share of the k-blocks left over, and up to two pieces of tiles per block to
// write and to add again.
double stream_cycles(const KernelConfig& config, const View& seen, const Tiles& tiles) {
  const Rates& rates = seen.rates();
  constexpr double kPieceBytesPerCycle = 32, kSumCycles = 4000;  // those of parts in the workspace
  // Blocks that share k-blocks evenly stand at different depths and find less in the L2; a guess.
  constexpr double kShared = 1.3;
  const Facts& facts = facts_of(seen);
  const StreamShares cut =
      planned_stream(tiles.count, static_cast<int64_t>(tiles.longest), int64_t{rates.units} * config.min_blocks);
  const auto rounds = static_cast<double>(cut.rounds), share = cut.share + (cut.rest > 0 ? 1.0 : 0.0);
  const double stage = stage_cycles(config, double{1} * cut.blocks / config.min_blocks, seen) * config.min_blocks;
  const double whole = rounds + std::floor(share / tiles.longest);
  const double bytes = double{4} * config.gemm.tile.m * config.gemm.tile.n;
  const double sharers = cut.divides() ? std::ceil(cut.units() / share) : 0;
  const double pieces = cut.divides() ? sharers + cut.tiles : 0, of_block = std::min(2.0, pieces / cut.blocks);
  const double outputs =
      whole * output_cycles(config) * (config.gemm.ping_pong ? 0.5 : 1) + of_block * bytes / kPieceBytesPerCycle;
  const double products = (rounds * tiles.longest + share * kShared) * stage;
  const double sum =
      cut.divides() ? rates.launch_cycles() / 2 + kSumCycles + pieces * bytes / rates.memory_per_cycle() : 0;
  const double launches = tma_layout::turns_filter(config) ? 1.5 : 1;
  return rates.launch_cycles() * launches + rates.first_data_cycles() +
         overlapped(products + outputs + (whole + of_block) * kTileCycles, facts) + sum;
}

double tma_cycles(const KernelConfig& config, const View& seen, int asked) {
  const Rates& rates = seen.rates();
  const Facts& facts = facts_of(seen);
  const Tiles tiles = tiles_of(config, seen);
  if (tiles.count == 0) return rates.launch_cycles() + overlapped(0, facts);
  if (config.gemm.split_k != SplitK::kNone) {
    const int64_t splits = best_splits(config, seen, tiles, asked);
    const Busy busy = split_cycles(config, seen, tiles, splits);
    const double launches = tma_layout::turns_filter(config) ? 1.5 : 1;
    // Phases have sums of different lengths, and parts of the short ones are next to nothing.
    constexpr double kPhasesInParts = 1.2;
    const double phases = facts.rows.size() > 1 ? kPhasesInParts : 1;
    return rates.launch_cycles() * launches + rates.first_data_cycles() +
           (overlapped(busy.overlapped, facts) + busy.after) * kParts * phases;
  }
  if (tma_layout::streams(config)) return stream_cycles(config, seen, tiles);
  // Blocks of one multiprocessor share its rates, and one's output hides behind the other's products.
  const auto units = static_cast<double>(rates.units) * config.min_blocks;
  const double blocks = std::min(static_cast<double>(tiles.count), units);
  const double stage = stage_cycles(config, blocks / config.min_blocks, seen) * config.min_blocks;
  const double output = output_cycles(config);
  // A block takes the mean number of stages, rounded up to whole tiles: to one of the last, where they differ much.
  const double waves = std::ceil(static_cast<double>(tiles.count) / units);
  const double share =
      tiles.last > 0 ? static_cast<double>(tiles.count) / units * tiles.mean + tiles.last / 2 : waves * tiles.mean;
  const double products = std::max(tiles.longest, share) * stage;
  // Ping-pong hides every output but the last behind the other group's products.
  const double outputs =
      config.gemm.ping_pong ? output + (waves - 1) * std::max(0.0, output - tiles.mean * stage) : waves * output;
  const double busy = products + outputs + waves * kTileCycles;
  // The filter is made or turned round before.
  const double launches = config.gemm.groups_per_tile > 1 || tma_layout::turns_filter(config) ? 1.5 : 1;
  // Where filling is not the limit, operands that two blocks share cost a little: the median of 568 timed pairs.
  constexpr double kSharing = 1.03;
  const double shared = tma_layout::sharing_blocks(config) > 1 ? kSharing : 1;
  const double few = tma_layout::crosswise(config) ? kPingPongCrosswise : 1;
  // Folded sums that go to memory from registers, against those that are staged: the median of four timed pairs.
  constexpr double kFoldedDirect = 1.03;
  const double stored = tma_layout::folds_taps(config) && config.gemm.staging == Staging::kDirect ? kFoldedDirect : 1;
  const double turns = !config.gemm.ping_pong ? 1 : waves > 2 ? kPingPongWaves : few;
  return rates.launch_cycles() * launches + rates.first_data_cycles() +
         overlapped(busy, facts) * shared * stored * turns;
}

// Unit filters over few channels whose pixels begin inside lines of 128 bytes took 1.04 to 1.8 times as long as predicted,
// the median of eleven.
double narrow_unit(const ConvProblem& problem) {
  constexpr double kNarrow = 1.25;
  constexpr int64_t kMostDepth = 256, kFewColumns = 32;
  if (problem.filter_taps() != 1 || problem.g != 1 || size_of(problem.x) != 2) return 1;
  const bool forward = problem.direction == Direction::kForward;
  const int64_t depth = forward ? problem.c : problem.k, columns = forward ? problem.k : problem.c;
  const bool crosses = depth % 32 != 0 || (depth % 64 != 0 && columns <= kFewColumns);
  return depth < kMostDepth && crosses ? kNarrow : 1;
}

}  // namespace

double tma_model::few_columns(const KernelConfig& config, const ConvProblem& problem) {
  constexpr double kEighth = 1.5, kQuarter = 1.25, kHalfCrosswise = 1.15, kLow = 1.3;
  const int64_t group = problem.direction == Direction::kForward ? problem.k_per_group() : problem.c_per_group();
  const int64_t columns = group * config.gemm.groups_per_tile, wide = config.gemm.tile.n;
  if (columns > 64) return 1;
  if (config.gemm.tile.m == 64 && columns <= 16) return kLow;
  const int64_t used = std::max<int64_t>(16, columns);
  if (wide >= 8 * used) return kEighth;
  if (wide >= 4 * used) return kQuarter;
  return tma_layout::crosswise(config) && wide >= 2 * used ? kHalfCrosswise : 1;
}

double tma_kind::predict(const KernelConfig& config, const View& asked, int splits) {
  const View& seen = asked.seen_by(config);
  const ConvProblem& problem = seen.problem();
  const double cycles = tma_cycles(config, seen, splits) * few_columns(config, problem) * narrow_unit(problem);
  return with_aligned_copy(config, seen, cycles) / seen.rates().clock;
}

double tma_fold_kind::predict(const KernelConfig& config, const View& seen, int splits) {
  const ConvProblem& problem = seen.problem();
  return tma_cycles(config, seen, splits) * few_columns(config, problem) / seen.rates().clock;
}

int64_t tma_model::planned_splits(const KernelConfig& config, const View& seen, int asked) {
  return best_splits(config, seen, tiles_of(config, seen), asked);
}

}  // namespace wt
