// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_halo/view.h - how the weight gradient with patches (kernels/tma_weight_halo/device/kernel.h) cuts
// a problem.
#pragma once

#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt {

// tile.k output pixels that a stage sums over, and the patch of x under them.
struct PixelTile {
  int h = 0, w = 0;
  int patch_h = 0, patch_w = 0;
  int64_t tiles_h = 0, tiles_w = 0;
  // Whole image rows, as wide as the patch, with zeros at their ends; else w divides into whole steps, and h times w is
  // tile.k.
  bool rows = false;
  bool down = false;  // the taps of an instruction lie below each other: filters one tap wide
};

// The shape with the fewest tiles, and among those not of whole rows and with the smallest patch.
PixelTile pixel_tile(const KernelConfig& config, const ConvProblem& problem);

// Tiles of pixels of all images, and tiles of the gradient in one group: along m and along n.
struct WeightHaloView {
  ConvProblem problem;  // as the kernel sees it: under filters along d alone, planes are rows of pixels
  PixelTile tile;
  int64_t planes = 0;  // of an image, that a tile goes through
  int64_t blocks = 0;
  int64_t tap_groups[3] = {};  // tiles of taps along d, h and w
  int64_t channel_blocks = 0;
  int64_t tiles_m = 0, tiles_n = 0;
};
WeightHaloView weight_halo_view(const KernelConfig& config, const ConvProblem& problem);

}  // namespace wt
