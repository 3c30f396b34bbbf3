// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/cost.cc - predicted times of patches on Blackwell, by the rates and guesses of kind tcgen05.
#include "kernels/tcgen05_halo/cost.h"

#include <algorithm>
#include <optional>

#include "base/integers.h"
#include "kernels/shared/split.h"
#include "kernels/tcgen05/cost.h"
#include "kernels/tcgen05/device/layout.h"
#include "kernels/tcgen05_halo/kind.h"
#include "kernels/tma/seen.h"
#include "kernels/tma_halo/view.h"

namespace wt {

using namespace tma_model;
using namespace tcgen05_model;

namespace {

// What a kernel sees of a problem. WHY `room`: to copy a problem costs as much as a prediction.
const ConvProblem& problem_of(const KernelConfig& config, const View& merged, std::optional<ConvProblem>& room) {
  const ConvProblem& problem = merged.problem();
  const bool as_it_is = problem.dims == 2 || tcgen05_layout::patch_taps_w(config) > 1;
  return as_it_is ? problem : room.emplace(halo_view(config, problem).problem);
}

Tiles tiles_of(const KernelConfig& config, const ConvProblem& problem) {
  const bool forward = problem.direction == Direction::kForward;
  const Spatial out = forward ? problem.out() : problem.in;
  Tiles tiles;
  tiles.count = problem.n * out[0] * ceil_div(out[1], tcgen05_layout::blocks(config) * tcgen05_layout::kPatchHeight) *
                ceil_div(out[2], tcgen05_layout::kPatchEdge) *
                ceil_div(forward ? problem.k_per_group() : problem.c_per_group(), config.gemm.tile.n) * problem.g;
  const int64_t depth = forward ? problem.c_per_group() : problem.k_per_group();
  tiles.mean = tiles.longest =
      static_cast<double>(problem.filter[0] * problem.filter[2] / tcgen05_layout::patch_taps_w(config) *
                          ceil_div(depth, tma_layout::box_k(config)));
  return tiles;
}

Stage stage_of(const KernelConfig& config, const ConvProblem& problem, const Facts& facts) {
  const BoxParts parts = box_parts(config, problem, facts);
  const int taps = tcgen05_layout::stage_boxes(config);
  const double deep = config.gemm.swizzle_a, steps = deep / 32 * parts.multiplied;
  const Spatial out = problem.direction == Direction::kForward ? problem.out() : problem.in;
  const double pixels =
      tcgen05_layout::copied_patch_rows(config, out[1]) * tcgen05_layout::pixel_pitch(config) * facts.crossed;
  const double columns = tcgen05_layout::columns(config);
  Stage stage;
  stage.products = taps * steps * instruction_cycles(config.gemm.tile.n, tcgen05_layout::blocks(config) == 2);
  stage.filled = (pixels + taps * columns) * deep * parts.copied;
  stage.shared = stage.filled + taps * steps * 32 * (tcgen05_layout::kRows + columns);
  return stage;
}

// Weight gradients: a tile of pixels at a time, for all taps of a tile of dw.
double gradient_cycles(const KernelConfig& config, const View& seen, int asked) {
  const GemmConfig& gemm = config.gemm;
  const ConvProblem& problem = seen.problem();
  const tcgen05_halo_model::GradientTiles tiles = tcgen05_halo_model::gradient_tiles(config, problem);
  const bool parts = gemm.split_k == SplitK::kWorkspace;
  const int64_t splits = parts ? tcgen05_halo_model::gradient_splits(config, seen, asked) : 1;
  const int high = gemm.tile.k / tcgen05_layout::kPatchEdge, units = tcgen05_layout::tap_units(config);
  const int steps = high / 2, edge = tcgen05_layout::kPatchEdge;
  Gradient gradient;
  gradient.tiles = tiles.tiles_m * tiles.tiles_n * problem.g;
  gradient.deep = tiles.pixel_blocks;
  gradient.stage.products = units * steps * instruction_cycles(gemm.tile.n, false);
  const double span = std::min<double>(gemm.swizzle_a, 2.0 * static_cast<double>(problem.c_per_group()));
  const double columns = std::min<double>(2.0 * gemm.tile.n, 2.0 * static_cast<double>(problem.k_per_group()));
  gradient.stage.filled =
      edge * (tcgen05_layout::patch_copies(config) * tcgen05_layout::patch_copy_rows(config) * span + high * columns);
  gradient.stage.shared = gradient.stage.filled + units * steps * 32.0 * (tcgen05_layout::kRows + gemm.tile.n);
  // Sums leave by lanes with neighbouring elements, a register at a time.
  const double rows = std::min<double>(gemm.tile.n, static_cast<double>(problem.k_per_group()));
  const double channels =
      std::min<double>(tcgen05_layout::block_channels(config), static_cast<double>(problem.c_per_group()));
  const double taps = gemm.filter_rows * tcgen05_layout::patch_copies(config);
  gradient.stored = taps * channels * rows * (parts ? 4 : 2);
  return cycles_of(config, seen, gradient, splits);
}

}  // namespace

tcgen05_halo_model::GradientTiles tcgen05_halo_model::gradient_tiles(const KernelConfig& config,
                                                                     const ConvProblem& problem) {
  GradientTiles tiles;
  const Spatial out = problem.out();
  tiles.channel_blocks = ceil_div(problem.c_per_group(), tcgen05_layout::block_channels(config));
  tiles.tiles_m = ceil_div(problem.k_per_group(), config.gemm.tile.n);
  tiles.tiles_n = tiles.channel_blocks * problem.filter[0] * (problem.filter[2] / tcgen05_layout::patch_copies(config));
  tiles.tiles_h = ceil_div(out[1], config.gemm.tile.k / tcgen05_layout::kPatchEdge);
  tiles.tiles_w = ceil_div(out[2], tcgen05_layout::kPatchEdge);
  tiles.pixel_blocks = problem.n * out[0] * tiles.tiles_h * tiles.tiles_w;
  return tiles;
}

int64_t tcgen05_halo_model::gradient_splits(const KernelConfig& config, const View& seen, int asked) {
  const ConvProblem& problem = seen.problem();
  const GradientTiles tiles = gradient_tiles(config, problem);
  return split_count(seen, split_input(config, tiles.tiles_m * tiles.tiles_n * problem.g, tiles.pixel_blocks,
                                       seen.rates().units, problem.w_elements(), asked));
}

int64_t tcgen05_halo_model::planned_splits(const KernelConfig& config, const View& seen, int asked) {
  std::optional<ConvProblem> room;
  const ConvProblem& problem = problem_of(config, seen, room);
  return best_splits(config, seen, tiles_of(config, problem), stage_of(config, problem, facts_of(seen)), asked);
}

double tcgen05_halo_kind::predict(const KernelConfig& config, const View& asked, int splits) {
  if (config.direction == Direction::kBackwardWeight)
    return with_aligned_copy(config, asked, gradient_cycles(config, asked, splits)) / asked.rates().clock;
  std::optional<ConvProblem> room;
  const View& merged = asked.merged(config.gemm.groups_per_tile);
  const ConvProblem& problem = problem_of(config, merged, room);
  const Stage stage = stage_of(config, problem, facts_of(asked));
  return cycles_of(config, asked, tiles_of(config, problem), stage, splits) / asked.rates().clock;
}

}  // namespace wt
