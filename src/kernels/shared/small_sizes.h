// SPDX-License-Identifier: Apache-2.0
// kernels/shared/small_sizes.h - layers for trials of the kinds for depthwise and small groups
// (KernelKind::small_sizes).
#pragma once

#include <string>
#include <vector>

#include "config/kernel_config.h"

namespace wt {

struct SmallGroups {
  int groups = 64;
  int channels = 1;              // per group, of the input as of the output
  int image = 1;                 // its width, in strides of the filter
  bool one_row_when_1d = false;  // else one-dimensional problems have one column
};

// One layer, with the sizes that the config is compiled for; where it takes any, filters of 3 and strides of 1.
std::vector<std::string> small_groups(const KernelConfig& config, const SmallGroups& layer = {});

}  // namespace wt
