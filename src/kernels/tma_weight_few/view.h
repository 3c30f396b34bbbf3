// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_few/view.h - how the weight gradient of few output channels
// (kernels/tma_weight_few/device/kernel.h) cuts a problem, and the time that takes.
#pragma once

#include "config/kernel_config.h"
#include "kernels/tma_weight_few/device/layout.h"
#include "kernels/view.h"

namespace wt {

struct WeightFewView {
  int64_t tiles_h = 0, tiles_w = 0;  // of an image
  int64_t blocks = 0;                // tiles of pixels of all images
  int64_t tap_groups = 0, channel_blocks = 0;
  int64_t splits = 0, blocks_per_split = 0;
  double cycles = 0;  // predicted, of both launches

  int64_t tiles() const { return tap_groups * channel_blocks; }  // of the gradient
};
// `asked`: parts that the caller of a plan asks for; 0: those with the least predicted time.
WeightFewView weight_few_view(const KernelConfig& config, const View& seen, int asked = 0);

}  // namespace wt
