// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model_tma.cc - predicted times of the Hopper kernels of kernel/gemm/tma, and into how many parts their
// sums go: forward and backward data here, weight gradients in cost_model_tma_weight.cc.
#include <algorithm>
#include <cmath>
#include <optional>

#include "config/halo_view.h"
#include "dispatch/bind_whole_rows.h"
#include "dispatch/cost_model.h"
#include "dispatch/cost_model_tma.h"
#include "dispatch/split.h"
#include "dispatch/tma_maps.h"
#include "dispatch/weight_few.h"
#include "kernel/gemm/tma/layout.h"
#include "kernel/gemm/tma/weight_halo_layout.h"
#include "problem/patch_view.h"

namespace wt {

using namespace tma_model;

namespace {

// Cycles and bytes a cycle of one multiprocessor, fitted with those of the header.
constexpr double kShallowRing = 0.46;        // of a stage's time is lost, divided by the number of stages
constexpr double kTallTile = 1.15;           // stages of 256 rows took so much longer than predicted
constexpr double kThreeConsumers = 1.08;     // the same of 192 rows
constexpr double kWideCrosswise = 1.15;      // and of crosswise tiles of 256 channels, the median of 20
constexpr double kPingPongCrosswise = 0.88;  // of crosswise tiles in turns, one or two a block: medians of 203 runs
constexpr double kPingPongWaves = 1.06;      // of consumers in turns over more tiles: medians of 342
constexpr double kShortCrossed = 1.15;  // of tiles of up to 128 rows, and of crosswise ones, whose rows cross lines
constexpr double kRaggedColumns = 1.1;  // and of columns read across, where the last block of 64 is not full
constexpr double kStoreBytesPerCycle = 40;
constexpr double kDirectStorePenalty = 9;    // stores of two columns instead of whole rows
constexpr double kCopyCycles = 1100;         // copying staged rows: for a tile, and for 64 rows of 64 columns
constexpr double kCopiedBlockCycles = 4400;  // of the latter, divided by the elements of a vector
constexpr double kTileCycles = 215;          // per tile of a persistent block: coordinates, barriers, drained pipeline

// The parts of whole boxes of channels that are copied and that are multiplied, of which kernels leave out quarters.
struct BoxParts {
  double copied = 1, multiplied = 1;
};
BoxParts box_parts(const KernelConfig& config, const ConvProblem& problem, const Facts& facts) {
  const int64_t box = tma_layout::box_k(config);
  if (facts.whole_boxes && box <= 64) return {};
  const bool forward = problem.direction == Direction::kForward;
  const int64_t depth = (forward ? problem.c_per_group() : problem.k_per_group()) * config.gemm.groups_per_tile;
  if (!(tma_layout::is_halo(config) || tma_layout::skips_steps(config)) || depth % box == 0) return {};
  const int64_t copied = tma_layout::copied_depth(config, depth), count = ceil_div(depth, box);
  const auto quarters = [&](int64_t channels) {
    return static_cast<double>(channels * 4 > box * 3 ? 4 : channels * 2 > box ? 3 : 2);
  };
  const auto before = static_cast<double>(count - 1);
  return {static_cast<double>(copied) / static_cast<double>(box),
          (before * quarters(copied) + quarters(depth - (count - 1) * copied)) / (4 * (before + 1))};
}

// One stage of the ring: products against copies, whichever takes longer.
double stage_cycles(const KernelConfig& config, double blocks, const ConvProblem& problem, const Facts& facts) {
  const GemmConfig& gemm = config.gemm;
  const double deep = gemm.tile.k * size_of(operand_a(config));
  const BoxParts parts = box_parts(config, problem, facts);
  const double narrow = std::max(parts.copied, kLeastRowBytes / gemm.swizzle_a);
  // Of a tile that two blocks share, each fetches half. It was seen to gain only where rows cross lines.
  const double crossed = facts.crossed, shared_tile = crossed > 1 ? 0.7 : 1;
  const double rows_a = gemm.tile.m * narrow * crossed * (gemm.multicast_a ? shared_tile : 1);
  const double rows_b =
      gemm.tile.n * (tma_layout::b_is_mn_major(config) ? parts.copied : narrow) * (gemm.multicast_b ? shared_tile : 1);
  const double bytes = (rows_a + rows_b) * deep;
  const double fill = bytes / std::min(kFillBytesPerCycle, kFillBytesPerCycleAll / std::max(1.0, blocks));
  const double crosswise = gemm.tile.n > 128 ? kWideCrosswise : 1;
  const double square = gemm.tile.m > 192 ? kTallTile : gemm.tile.m > 128 ? kThreeConsumers : 1;
  // Rows that cross lines want tall tiles, where few columns share them.
  const double lines = crossed == 1 || gemm.tile.n > 64 ? square : gemm.tile.m > 128 ? 1 : kShortCrossed;
  const double tall = !tma_layout::crosswise(config) ? lines : crossed == 1 ? crosswise : crosswise * kShortCrossed;
  const double ragged = tma_layout::b_is_mn_major(config) && gemm.tile.n % 64 != 0 ? kRaggedColumns : 1;
  const double products = tma_layout::three_products(config) ? three_product_cycles(config, deep)
                                                             : mma_cycles(config, deep) * parts.multiplied;
  return std::max(products, fill) * (1 + kShallowRing / gemm.stages) * tall * ragged;
}

double output_cycles(const KernelConfig& config) {
  const GemmConfig& gemm = config.gemm;
  // Each consumer copies its own rows, one block after the other.
  if (gemm.staging == Staging::kShared)
    return kCopyCycles +
           tma_layout::rows_of_consumer(config) / 64.0 * gemm.tile.n / 64.0 * kCopiedBlockCycles / gemm.vector_c;
  const double bytes = double{1} * gemm.tile.m * gemm.tile.n * size_of(output_type(config));
  return bytes / kStoreBytesPerCycle * (gemm.staging == Staging::kDirect ? kDirectStorePenalty : 1);
}

// The tiles of a forward or backward-data problem and how deep their sums are, in stages of tile.k.
struct Tiles {
  int64_t count = 0;
  double mean = 0, longest = 0;
  double last = 0;  // of a list that begins with the longest
};

Tiles tiles_of(const KernelConfig& config, const ConvProblem& problem) {
  const GemmConfig& gemm = config.gemm;
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
  const Facts& facts = facts_of(problem);
  const bool divides = tma_layout::divides_by_taps(config) && !facts.divided.empty();
  for (const Rows& rows : divides ? facts.divided : facts.rows) {
    // Pixels without taps are memory traffic, beside the products.
    if (rows.taps == 0 && tma_layout::writes_zeros(config)) continue;
    const int64_t part = ceil_div(rows.count, gemm.tile.m * gemm.cluster_m) * gemm.cluster_m * tiles_n;
    const auto deep = static_cast<double>(ceil_div(rows.taps * depth_blocks, boxes));
    tiles.count += part;
    stages += static_cast<double>(part) * deep;
    if (part == 0) continue;
    tiles.last = divides && (tiles.last == 0 || deep < tiles.last) ? deep : tiles.last;
    tiles.longest = std::max(tiles.longest, deep);
  }
  if (tiles.count > 0) tiles.mean = stages / static_cast<double>(tiles.count);
  return tiles;
}

// Cycles that overlap with memory traffic, and cycles that follow.
struct Busy {
  double overlapped, after;
  double sum() const { return overlapped + after; }
};

// The sums of `splits` parts each. Figures of the exchange and of the workspace are those of microbenchmarks.
Busy split_cycles(const KernelConfig& config, const ConvProblem& problem, const Tiles& tiles, int64_t splits,
                  int multiprocessors) {
  constexpr double kPartBytesPerCycle = 32, kPartCycles = 3500, kSumCycles = 4000;
  const GemmConfig& gemm = config.gemm;
  const bool cluster = gemm.split_k == SplitK::kCluster;
  const auto parts = static_cast<double>(splits);
  const int64_t at_once =
      cluster ? resident_clusters(multiprocessors, static_cast<int>(splits)) : std::max(1, multiprocessors);
  const double waves = static_cast<double>(ceil_div(tiles.count * (cluster ? 1 : splits), at_once));
  const double blocks = std::min(static_cast<double>(tiles.count) * parts, static_cast<double>(multiprocessors));
  const double stage = stage_cycles(config, blocks, problem, facts_of(problem));
  const double products = std::max(std::ceil(tiles.longest / parts), waves * std::ceil(tiles.mean / parts)) * stage;
  const double bytes = double{4} * gemm.tile.m * gemm.tile.n;
  if (cluster) {
    const double exchange = bytes * (parts - 1) / parts / kExchangeBytesPerCycle + kExchangeCycles;
    return {products + waves * kTileCycles, waves * (exchange + output_cycles(config) / parts)};
  }
  const double outputs =
      static_cast<double>(problem.direction == Direction::kForward ? problem.y_elements() : problem.x_elements());
  const double sum = kLaunchCycles / 2 + kSumCycles + outputs * 4 * (parts + 0.5) / kMemoryBytesPerCycle;
  return {products + waves * kTileCycles, waves * bytes / kPartBytesPerCycle + kPartCycles + sum};
}

int64_t best_splits(const KernelConfig& config, const ConvProblem& problem, const Tiles& tiles, int multiprocessors) {
  constexpr int64_t kMostParts = 16;  // in the workspace; more are as many bytes as a whole operand
  const int64_t most = config.gemm.split_k == SplitK::kCluster ? tma_layout::kMaxCluster : kMostParts;
  if (const int64_t asked = requested_splits()) return std::clamp<int64_t>(asked, 2, most);
  int64_t best = 2;
  // WHY not asked further: enough tiles for all multiprocessors only pay for parts.
  if (tiles.count >= 2 * int64_t{multiprocessors}) return best;
  double least = split_cycles(config, problem, tiles, best, multiprocessors).sum();
  for (int64_t splits = 3; splits <= most && static_cast<double>(splits) <= tiles.longest; ++splits) {
    const double cycles = split_cycles(config, problem, tiles, splits, multiprocessors).sum();
    if (cycles >= least) continue;
    least = cycles;
    best = splits;
  }
  return best;
}

double tma_cycles(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  const Facts& facts = facts_of(problem);
  const Tiles tiles = tiles_of(config, problem);
  if (tiles.count == 0) return kLaunchCycles + overlapped(0, facts);
  if (config.gemm.split_k != SplitK::kNone) {
    const int64_t splits = best_splits(config, problem, tiles, multiprocessors);
    const Busy busy = split_cycles(config, problem, tiles, splits, multiprocessors);
    const double launches = tma_layout::turns_filter(config) ? 1.5 : 1;
    // Phases have sums of different lengths, and parts of the short ones are next to nothing.
    constexpr double kPhasesInParts = 1.2;
    const double phases = facts.rows.size() > 1 ? kPhasesInParts : 1;
    return kLaunchCycles * launches + kFirstDataCycles +
           (overlapped(busy.overlapped, facts) + busy.after) * kParts * phases;
  }
  // Blocks of one multiprocessor share its rates, and one's output hides behind the other's products.
  const auto units = static_cast<double>(multiprocessors) * config.min_blocks;
  const double blocks = std::min(static_cast<double>(tiles.count), units);
  const double stage = stage_cycles(config, blocks / config.min_blocks, problem, facts) * config.min_blocks;
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
  const double turns = !config.gemm.ping_pong ? 1 : waves > 2 ? kPingPongWaves : few;
  return kLaunchCycles * launches + kFirstDataCycles + overlapped(busy, facts) * shared * turns;
}

// The products of a tap. Pixels in registers are read once for a column of the filter, two rows more than outputs have;
// an estimate from the rates of shared memory.
double halo_product_cycles(const KernelConfig& config, double steps) {
  if (!tma_layout::halo_in_registers(config)) return mma_cycles(config, steps * 32);
  const double columns = config.gemm.tile.n, fragments = tma_layout::rows_of_consumer(config) / 64.0;
  const double pixels = 16 * (fragments + 1) / fragments / tma_layout::kHaloFilter;
  constexpr double kIssue = 1.2;  // instructions that wait for their operands; three timed layers
  return config.gemm.tile.m / 64.0 * steps * std::max(columns / 2, pixels + columns / 4) * kIssue;
}

// A patch of the image and nine taps of the filter at a time; tiles are 8 pixels wide and hang over the edges.
double halo_cycles(const KernelConfig& config, const ConvProblem& whole, int multiprocessors) {
  // Beside the products of a tap, and what a stage of three of them makes of it; fitted by hand.
  constexpr double kStageCycles = 110, kTapsOfStage = 2;
  std::optional<ConvProblem> room, other;
  const ConvProblem& all_groups = merged(config, whole, room);
  const bool as_it_is = tma_layout::halo_filter_width(config) > 1;
  const ConvProblem& problem = as_it_is ? all_groups : other.emplace(halo_view(config, all_groups).problem);
  const GemmConfig& gemm = config.gemm;
  const bool forward = problem.direction == Direction::kForward;
  const Spatial out = forward ? problem.out() : problem.in;
  const int64_t tiles_n = ceil_div(forward ? problem.k_per_group() : problem.c_per_group(), gemm.tile.n) * problem.g;
  const int64_t tiles = problem.n * out[0] * ceil_div(out[1], tma_layout::halo_tile_height(config)) *
                        ceil_div(out[2], tma_layout::kHaloEdge) * tiles_n;
  if (tiles == 0) return kLaunchCycles;
  const auto blocks = static_cast<double>(
      problem.filter[0] * ceil_div(forward ? problem.c_per_group() : problem.k_per_group(), tma_layout::box_k(config)));
  const auto units = static_cast<double>(multiprocessors);
  const int taps = tma_layout::halo_taps(config);
  const bool half = gemm.tile.k % 64 != 0;  // all of which is multiplied
  const double steps =
      tma_layout::halo_steps(config) * (half ? 1 : box_parts(config, problem, facts_of(whole)).multiplied);
  const double products = taps * (halo_product_cycles(config, steps) +
                                  kStageCycles / (tma_layout::halo_stage_taps(config) > 1 ? kTapsOfStage : 1));
  const double bytes = tma_layout::patch_bytes(config) + taps * tma_layout::b_box_bytes(config);
  const double rate = std::min(kFillBytesPerCycle, kFillBytesPerCycleAll / std::min(static_cast<double>(tiles), units));
  // Tiles that the image ends in the upper half of take half the time, and come last.
  const int64_t tiles_h = ceil_div(out[1], tma_layout::halo_tile_height(config));
  const bool ends = tiles_h > 1 && tma_layout::rows_of_consumer(config) % 128 == 0 &&
                    2 * out[1] <= (2 * tiles_h - 1) * tma_layout::halo_tile_height(config);
  const double full =
      static_cast<double>(tiles) * (ends ? static_cast<double>(tiles_h - 1) / static_cast<double>(tiles_h) : 1);
  const double all = (full + static_cast<double>(tiles)) / 2;
  const double waves = std::max(std::ceil(full / units), std::ceil(2 * all / units) / 2);
  const double tile = blocks * std::max(products, bytes / rate);
  const double output = output_cycles(config);  // hidden only by the other consumer
  const double shown = gemm.ping_pong ? output / waves + std::max(0.0, output - tile) : output;
  // What three taps below each other took of their prediction, the median of nine timed runs.
  constexpr double kColumn = 1.27;
  const double column = tma_layout::halo_filter_width(config) == 1 ? kColumn : 1;
  const double busy = waves * (tile + shown + kTileCycles) * column;
  const double launches = gemm.groups_per_tile > 1 ? 1.5 : 1;
  return kLaunchCycles * launches + kFirstDataCycles + overlapped(busy, facts_of(whole));
}

// Kernels whose tiles are much wider than there are columns, or low and of few columns, took longer than predicted:
// medians of 500 runs on layers of up to 64 output channels.
double few_columns(const KernelConfig& config, const ConvProblem& problem) {
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

}  // namespace

double predicted_tma_us(const KernelConfig& config, const ConvProblem& asked, int multiprocessors) {
  std::optional<ConvProblem> view;
  const bool patches = tma_layout::sees_patches(config) && is_patch(asked);
  const ConvProblem& problem = patches ? view.emplace(patch_view(asked)) : asked;
  double cycles = 0;
  if (weight_few::serves(config)) {
    cycles = weight_few_view(config, problem, multiprocessors).cycles;
  } else if (weight_halo::serves(config)) {
    cycles = weight_halo_cycles(config, problem, multiprocessors);
  } else if (problem.direction == Direction::kBackwardWeight) {
    const bool cluster = config.gemm.split_k == SplitK::kCluster;
    const int64_t members = cluster ? planned_splits(config, problem, multiprocessors) : 1;
    cycles = weight_cycles(config, problem, members, multiprocessors);
  } else if (tma_layout::is_halo(config)) {
    cycles = halo_cycles(config, problem, multiprocessors) * few_columns(config, problem);
  } else {
    cycles = tma_cycles(config, problem, multiprocessors) * few_columns(config, problem);
  }
  // Inputs are copied to whole rows before: a launch, and their bytes twice. Boxes that lie outside the tensor for the
  // most part fill slowly: of 3 channels the kernel took three times its prediction.
  if (tma_layout::copies_rows(config)) {
    constexpr double kCopyLaunch = 0.8, kFewChannels = 16, kMostlyOutside = 3;
    const auto depth = static_cast<double>(problem.direction == Direction::kForward ? problem.c : problem.k);
    const bool outside = problem.direction != Direction::kBackwardWeight && depth < kFewChannels;
    cycles = cycles * (outside ? kMostlyOutside : 1) + kCopyLaunch * kLaunchCycles +
             whole_rows_traffic(problem) / kMemoryBytesPerCycle;
  }
  return cycles / kClockMhz;
}

int64_t planned_splits(const KernelConfig& config, const ConvProblem& problem, int multiprocessors) {
  if (problem.direction == Direction::kBackwardWeight) return best_members(config, problem, multiprocessors);
  return best_splits(config, problem, tiles_of(config, problem), multiprocessors);
}

}  // namespace wt
