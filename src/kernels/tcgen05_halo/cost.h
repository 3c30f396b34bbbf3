// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/cost.h - into how many parts sums go, and the tiles of weight gradients.
#pragma once

#include "kernels/view.h"

namespace wt::tcgen05_halo_model {

int64_t planned_splits(const KernelConfig& config, const View& seen, int asked);

// Weight gradients: tiles of dw, and those of the pixels that they sum over.
struct GradientTiles {
  int64_t tiles_m = 0, tiles_n = 0, channel_blocks = 0;
  int64_t tiles_h = 0, tiles_w = 0, pixel_blocks = 0;
};
GradientTiles gradient_tiles(const KernelConfig& config, const ConvProblem& problem);
int64_t gradient_splits(const KernelConfig& config, const View& seen, int asked);

}  // namespace wt::tcgen05_halo_model
