// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/cost.cc - predicted times of the Hopper kernels that load patches
// (kernels/tma_halo/device/kernel.h), and into how many parts their sums go.
#include "kernels/tma/cost.h"

#include <optional>

#include "kernels/shared/tma_maps.h"
#include "kernels/tma/seen.h"
#include "kernels/tma_halo/kind.h"
#include "kernels/tma_halo/view.h"

namespace wt::tma_model {
namespace {

// A problem as its tiles, which are 8 pixels wide and hang over the edges.
struct HaloTiles {
  int64_t count = 0, high = 0;               // of all images, and of one
  double patches = 0;                        // of a tile
  double products = 0;                       // cycles of a patch
  double patch_bytes = 0, filter_bytes = 0;  // of a patch's taps
  bool ends = false;                         // the last of those below each other in their upper half
};

// `problem` as a kernel sees it that was asked for `whole`.
HaloTiles halo_tiles(const KernelConfig& config, const ConvProblem& problem, const View& whole) {
  // Beside the products of a tap, and what a stage of three of them makes of it; fitted by hand. Warpgroups along k
  // hide most of it.
  constexpr double kStageCycles = 110, kTapsOfStage = 2, kHidden = 0.25;
  const GemmConfig& gemm = config.gemm;
  const bool forward = problem.direction == Direction::kForward;
  Spatial out = forward ? problem.out() : problem.in;
  if (tma_layout::halo_phased(config)) out = {out[0], ceil_div(out[1], 2), ceil_div(out[2], 2)};
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
  tiles.products = taps * (mma_cycles(config, steps * 32) + beside * (gemm.warps.k > 1 ? kHidden : 1));
  tiles.patch_bytes = tma_layout::patch_bytes(config);
  tiles.filter_bytes = tma_layout::keeps_filter(config) ? 0 : taps * tma_layout::b_box_bytes(config);
  tiles.ends =
      tiles.high > 1 && tma_layout::rows_of_consumer(config) % 128 == 0 && 2 * out[1] <= (2 * tiles.high - 1) * height;
  return tiles;
}

// What three taps below each other took of their prediction, the median of nine timed runs.
double column_factor(const KernelConfig& config) {
  constexpr double kColumn = 1.27;
  return tma_layout::halo_filter_width(config) == 1 ? kColumn : 1;
}

double fill_rate(const Rates& rates, double blocks) {
  return std::min(rates.fill, rates.fill_all / std::max(1.0, blocks));
}

// The same in `splits` parts, which are cut between stages of the filter.
Busy part_cycles(const KernelConfig& config, const View& whole, const HaloTiles& tiles, int64_t splits) {
  const Rates& rates = whole.rates();
  const auto parts = static_cast<double>(splits);
  const double stages_of_patch = tma_layout::halo_taps(config) / tma_layout::halo_stage_taps(config);
  const double patches = std::ceil(tiles.patches * stages_of_patch / parts) / stages_of_patch;
  // A part that begins inside a patch reads it too.
  const double read = std::ceil(patches) + (patches == std::floor(patches) ? 0 : 0.5);
  const double waves = split_waves(config, tiles.count, splits, rates);
  const double blocks = std::min(static_cast<double>(tiles.count) * parts, static_cast<double>(rates.units));
  const double fill = (read * tiles.patch_bytes + patches * tiles.filter_bytes) / fill_rate(rates, blocks);
  const double busy = std::max(patches * tiles.products, fill) * column_factor(config) + kTileCycles;
  return {waves * busy, after_parts(config, whole, waves, splits)};
}

int64_t best_splits(const KernelConfig& config, const View& whole, const HaloTiles& tiles, int asked) {
  const double longest = tiles.patches * tma_layout::halo_taps(config) / tma_layout::halo_stage_taps(config);
  return least_splits(config, tiles.count, longest, whole.rates().units, asked,
                      [&](int64_t splits) { return part_cycles(config, whole, tiles, splits).sum(); });
}

// What the kernel sees of a problem. WHY `room`: to copy a problem costs as much as a prediction.
const ConvProblem& problem_of(const KernelConfig& config, const View& whole, std::optional<ConvProblem>& room) {
  const ConvProblem& all_groups = whole.merged(config.gemm.groups_per_tile).problem();
  const bool as_it_is = tma_layout::halo_filter_width(config) > 1;
  return as_it_is ? all_groups : room.emplace(halo_view(config, all_groups).problem);
}

}  // namespace

// A patch of the image and nine taps of the filter at a time.
double halo_cycles(const KernelConfig& config, const View& whole, int asked) {
  const Rates& rates = whole.rates();
  std::optional<ConvProblem> room;
  const ConvProblem& problem = problem_of(config, whole, room);
  const GemmConfig& gemm = config.gemm;
  const HaloTiles tiles = halo_tiles(config, problem, whole);
  if (tiles.count == 0) return rates.launch_cycles();
  const Facts& facts = facts_of(whole);
  if (gemm.split_k != SplitK::kNone) {
    const int64_t splits = best_splits(config, whole, tiles, asked);
    const Busy busy = part_cycles(config, whole, tiles, splits);
    // What sums over a cluster took of their prediction, where whole ones took 0.87 of theirs: 14 timed pairs.
    constexpr double kClustered = 1.2;
    return rates.launch_cycles() + rates.first_data_cycles() +
           (overlapped(busy.overlapped, facts) + busy.after) * (gemm.split_k == SplitK::kCluster ? kClustered : 1);
  }
  const auto units = static_cast<double>(rates.units), count = static_cast<double>(tiles.count);
  const double rate = fill_rate(rates, std::min(count, units));
  // Tiles that the image ends in the upper half of take half the time, and come last.
  const auto high = static_cast<double>(tiles.high);
  const double full = count * (tiles.ends ? (high - 1) / high : 1), all = (full + count) / 2;
  const double waves = std::max(std::ceil(full / units), std::ceil(2 * all / units) / 2);
  const double tile = tiles.patches * std::max(tiles.products, (tiles.patch_bytes + tiles.filter_bytes) / rate);
  // Four phases are stored one after the other; they took half as long as four tiles, the median of six timed runs.
  constexpr double kPhases = 2, kKept = 0.93;  // with a filter that stays, of eleven
  const double output = output_cycles(config) * (tma_layout::halo_phased(config) ? kPhases : 1);  // hidden only by the other consumer
  const double shown = gemm.ping_pong ? output / waves + std::max(0.0, output - tile) : output;
  const double busy =
      waves * (tile + shown + kTileCycles) * column_factor(config) * (tma_layout::keeps_filter(config) ? kKept : 1);
  const double launches = gemm.groups_per_tile > 1 ? 1.5 : 1;
  const double kept = tma_layout::keeps_filter(config) ? gemm.stages * tma_layout::b_bytes(config) / rate : 0;  // before the first tile
  return rates.launch_cycles() * launches + rates.first_data_cycles() + kept + overlapped(busy, facts);
}

int64_t halo_splits(const KernelConfig& config, const View& whole, int asked) {
  std::optional<ConvProblem> room;
  const ConvProblem& problem = problem_of(config, whole, room);
  return best_splits(config, whole, halo_tiles(config, problem, whole), asked);
}

}  // namespace wt::tma_model

namespace wt {

double tma_halo_kind::predict(const KernelConfig& config, const View& seen, int splits) {
  const ConvProblem& problem = seen.problem();
  using namespace tma_model;
  const double cycles = halo_cycles(config, seen, splits) * few_columns(config, problem);
  return with_aligned_copy(config, seen, cycles) / seen.rates().clock;
}

}  // namespace wt
