// SPDX-License-Identifier: Apache-2.0
// dispatch/cost_model_tma_halo.cc - predicted times of the Hopper kernels that load patches
// (kernel/gemm/tma/halo_kernel.h), and into how many parts their sums go.
#include "config/halo_view.h"
#include "dispatch/cost_model_tma.h"
#include "dispatch/tma_maps.h"

namespace wt::tma_model {
namespace {

// The products of a tap. Pixels in registers are read once for a column of the filter, two rows more than outputs have;
// an estimate from the rates of shared memory.
double halo_product_cycles(const KernelConfig& config, double steps) {
  if (!tma_layout::halo_in_registers(config)) return mma_cycles(config, steps * 32);
  const double columns = config.gemm.tile.n, fragments = tma_layout::rows_of_consumer(config) / 64.0;
  const double pixels = 16 * (fragments + 1) / fragments / tma_layout::kHaloFilter;
  constexpr double kIssue = 1.2;  // instructions that wait for their operands; three timed layers
  return config.gemm.tile.m / 64.0 * steps * std::max(columns / 2, pixels + columns / 4) * kIssue;
}

// A problem as its tiles, which are 8 pixels wide and hang over the edges.
struct HaloTiles {
  int64_t count = 0, high = 0;               // of all images, and of one
  double patches = 0;                        // of a tile
  double products = 0;                       // cycles of a patch
  double patch_bytes = 0, filter_bytes = 0;  // of a patch's taps
  bool ends = false;                         // the last of those below each other in their upper half
};

// `problem` as a kernel sees it that was asked for `whole`.
HaloTiles halo_tiles(const KernelConfig& config, const ConvProblem& problem, const ConvProblem& whole) {
  // Beside the products of a tap, and what a stage of three of them makes of it; fitted by hand. Warpgroups along k
  // hide most of it.
  constexpr double kStageCycles = 110, kTapsOfStage = 2, kHidden = 0.25;
  const GemmConfig& gemm = config.gemm;
  const bool forward = problem.direction == Direction::kForward;
  const Spatial out = forward ? problem.out() : problem.in;
  const int64_t height = tma_layout::halo_tile_height(config);
  HaloTiles tiles;
  tiles.high = ceil_div(out[1], height);
  tiles.count = ceil_div(problem.n, tma_layout::halo_stacked(config, out[1], problem.n)) * out[0] * tiles.high *
                ceil_div(out[2], tma_layout::kHaloEdge) *
                ceil_div(forward ? problem.k_per_group() : problem.c_per_group(), gemm.tile.n) * problem.g;
  tiles.patches = static_cast<double>(
      problem.filter[0] * ceil_div(forward ? problem.c_per_group() : problem.k_per_group(), tma_layout::box_k(config)));
  const int taps = tma_layout::halo_taps(config);
  const bool half = gemm.tile.k % 64 != 0;  // all of which is multiplied
  const double steps =
      tma_layout::halo_steps(config) * (half ? 1 : box_parts(config, problem, facts_of(whole)).multiplied);
  const double beside = kStageCycles / (tma_layout::halo_stage_taps(config) > 1 ? kTapsOfStage : 1);
  tiles.products = taps * (halo_product_cycles(config, steps) + beside * (gemm.warps.k > 1 ? kHidden : 1));
  tiles.patch_bytes = tma_layout::patch_bytes(config);
  tiles.filter_bytes = taps * tma_layout::b_box_bytes(config);
  tiles.ends =
      tiles.high > 1 && tma_layout::rows_of_consumer(config) % 128 == 0 && 2 * out[1] <= (2 * tiles.high - 1) * height;
  return tiles;
}

// What three taps below each other took of their prediction, the median of nine timed runs.
double column_factor(const KernelConfig& config) {
  constexpr double kColumn = 1.27;
  return tma_layout::halo_filter_width(config) == 1 ? kColumn : 1;
}

double fill_rate(double blocks) { return std::min(kFillBytesPerCycle, kFillBytesPerCycleAll / std::max(1.0, blocks)); }

// The same in `splits` parts, which are cut between stages of the filter.
Busy part_cycles(const KernelConfig& config, const ConvProblem& problem, const HaloTiles& tiles, int64_t splits,
                 int multiprocessors) {
  const auto parts = static_cast<double>(splits);
  const double stages_of_patch = tma_layout::halo_taps(config) / tma_layout::halo_stage_taps(config);
  const double patches = std::ceil(tiles.patches * stages_of_patch / parts) / stages_of_patch;
  // A part that begins inside a patch reads it too.
  const double read = std::ceil(patches) + (patches == std::floor(patches) ? 0 : 0.5);
  const double waves = split_waves(config, tiles.count, splits, multiprocessors);
  const double blocks = std::min(static_cast<double>(tiles.count) * parts, static_cast<double>(multiprocessors));
  const double fill = (read * tiles.patch_bytes + patches * tiles.filter_bytes) / fill_rate(blocks);
  const double busy = std::max(patches * tiles.products, fill) * column_factor(config) + kTileCycles;
  return {waves * busy, after_parts(config, problem, waves, splits)};
}

int64_t best_splits(const KernelConfig& config, const ConvProblem& problem, const HaloTiles& tiles,
                    int multiprocessors) {
  const double longest = tiles.patches * tma_layout::halo_taps(config) / tma_layout::halo_stage_taps(config);
  return least_splits(config, tiles.count, longest, multiprocessors, [&](int64_t splits) {
    return part_cycles(config, problem, tiles, splits, multiprocessors).sum();
  });
}

// What the kernel sees of a problem. WHY `room` and `other`: to copy a problem costs as much as a prediction.
const ConvProblem& seen(const KernelConfig& config, const ConvProblem& whole, std::optional<ConvProblem>& room,
                        std::optional<ConvProblem>& other) {
  const ConvProblem& all_groups = merged(config, whole, room);
  const bool as_it_is = tma_layout::halo_filter_width(config) > 1;
  return as_it_is ? all_groups : other.emplace(halo_view(config, all_groups).problem);
}

}  // namespace

// A patch of the image and nine taps of the filter at a time.
double halo_cycles(const KernelConfig& config, const ConvProblem& whole, int multiprocessors) {
  std::optional<ConvProblem> room, other;
  const ConvProblem& problem = seen(config, whole, room, other);
  const GemmConfig& gemm = config.gemm;
  const HaloTiles tiles = halo_tiles(config, problem, whole);
  if (tiles.count == 0) return kLaunchCycles;
  const Facts& facts = facts_of(whole);
  if (gemm.split_k != SplitK::kNone) {
    const int64_t splits = best_splits(config, problem, tiles, multiprocessors);
    const Busy busy = part_cycles(config, problem, tiles, splits, multiprocessors);
    // What sums over a cluster took of their prediction, where whole ones took 0.87 of theirs: 14 timed pairs.
    constexpr double kClustered = 1.2;
    return kLaunchCycles + kFirstDataCycles +
           (overlapped(busy.overlapped, facts) + busy.after) * (gemm.split_k == SplitK::kCluster ? kClustered : 1);
  }
  const auto units = static_cast<double>(multiprocessors), count = static_cast<double>(tiles.count);
  const double rate = fill_rate(std::min(count, units));
  // Tiles that the image ends in the upper half of take half the time, and come last.
  const auto high = static_cast<double>(tiles.high);
  const double full = count * (tiles.ends ? (high - 1) / high : 1), all = (full + count) / 2;
  const double waves = std::max(std::ceil(full / units), std::ceil(2 * all / units) / 2);
  const double tile = tiles.patches * std::max(tiles.products, (tiles.patch_bytes + tiles.filter_bytes) / rate);
  const double output = output_cycles(config);  // hidden only by the other consumer
  const double shown = gemm.ping_pong ? output / waves + std::max(0.0, output - tile) : output;
  const double busy = waves * (tile + shown + kTileCycles) * column_factor(config);
  const double launches = gemm.groups_per_tile > 1 ? 1.5 : 1;
  return kLaunchCycles * launches + kFirstDataCycles + overlapped(busy, facts);
}

int64_t halo_splits(const KernelConfig& config, const ConvProblem& whole, int multiprocessors) {
  std::optional<ConvProblem> room, other;
  const ConvProblem& problem = seen(config, whole, room, other);
  return best_splits(config, problem, halo_tiles(config, problem, whole), multiprocessors);
}

}  // namespace wt::tma_model
