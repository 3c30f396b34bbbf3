// SPDX-License-Identifier: Apache-2.0
#include "kernels/tma_weight_halo/view.h"

#include <algorithm>
#include <tuple>

#include "base/check.h"
#include "base/integers.h"
#include "kernels/tma_halo/view.h"
#include "kernels/tma_weight_halo/device/layout.h"

namespace wt {

PixelTile pixel_tile(const KernelConfig& config, const ConvProblem& problem) {
  const Spatial out = problem.out();
  const int pixels = config.gemm.tile.k;
  const bool down = weight_halo::tap_rows(config) == 1 && problem.filter[2] == 1 && problem.filter[1] > 1;
  PixelTile best;
  const auto order = [](const PixelTile& t) {
    return std::tuple(t.tiles_h * t.tiles_w, t.rows, t.patch_h * t.patch_w);
  };
  for (int w = 8; w <= pixels; w = w < 16 ? 16 : w + 16) {
    if (pixels % w != 0 || (w == 8 && pixels % 16 != 0)) continue;
    PixelTile tile;
    tile.w = w;
    tile.h = pixels / w;
    tile.down = down;
    tile.patch_w = w + (down ? 0 : weight_halo::kTaps - 1);
    tile.patch_h = tile.h + (down ? weight_halo::kTaps : weight_halo::tap_rows(config)) - 1;
    if (tile.patch_w * tile.patch_h > weight_halo::patch_pixels(config)) continue;
    tile.tiles_h = ceil_div(out[1], tile.h);
    tile.tiles_w = ceil_div(out[2], tile.w);
    if (best.w == 0 || order(tile) < order(best)) best = tile;
  }
  // Steps run through the rows, and those of the last taps end as far behind the tile's last pixel.
  PixelTile rows;
  rows.rows = true;
  const int64_t width = out[2] + weight_halo::kTaps - 1;
  const int64_t read = pixels + (weight_halo::tap_rows(config) - 1) * width + weight_halo::kTaps - 1;
  constexpr int kMaxBox = 256;
  if (!down && width <= std::min(pixels, kMaxBox) && read <= weight_halo::patch_pixels(config)) {
    rows.w = rows.patch_w = static_cast<int>(width);
    rows.h = pixels / rows.w;
    rows.patch_h = rows.h + weight_halo::tap_rows(config) - 1;
    rows.tiles_h = ceil_div(out[1], rows.h);
    rows.tiles_w = 1;
    if (order(rows) < order(best)) best = rows;
  }
  WT_CHECK(best.w > 0, "no tile of {} pixels has a patch of at most {}", pixels, weight_halo::patch_pixels(config));
  return best;
}

WeightHaloView weight_halo_view(const KernelConfig& config, const ConvProblem& asked) {
  WeightHaloView view;
  const bool pairs = weight_halo::pairs_planes(config);
  view.problem = pairs ? asked : flattened(asked);
  const ConvProblem& problem = view.problem;
  view.tile = pixel_tile(config, problem);
  // Pairs of planes begin with the one before the first.
  view.planes = problem.out()[0] + (pairs ? 1 : 0);
  view.blocks = problem.n * view.planes * view.tile.tiles_h * view.tile.tiles_w;
  view.tap_groups[0] = pairs ? ceil_div(problem.filter[0], 2) : problem.filter[0];
  const bool down = view.tile.down;
  view.tap_groups[1] = ceil_div(problem.filter[1], down ? weight_halo::kTaps : weight_halo::tap_rows(config));
  view.tap_groups[2] = down ? 1 : ceil_div(problem.filter[2], weight_halo::kTaps);
  view.channel_blocks = ceil_div(problem.c_per_group(), weight_halo::channels(config));
  view.tiles_m = ceil_div(problem.k_per_group(), weight_halo::tile_channels(config));
  view.tiles_n = view.tap_groups[0] * view.tap_groups[1] * view.tap_groups[2] * view.channel_blocks;
  return view;
}

}  // namespace wt
