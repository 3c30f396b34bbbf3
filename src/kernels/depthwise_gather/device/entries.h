// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_gather/device/entries.h - the gathering kernels by direction and by where their rows lie, and the
// sum of their parts.
#pragma once

#include "kernels/beside/device/filter_sums.h"
#include "kernels/depthwise_gather/device/kernel.h"
#include "kernels/depthwise_gather/device/tile.h"
#include "kernels/depthwise_gather/device/weight.h"
#include "kernels/device/direct/sum.h"

namespace wt {

template <KernelConfig kConfig, bool kWeight = kConfig.direction == Direction::kBackwardWeight,
          bool kTile = (kConfig.direct.prefetch > 1)>
struct DepthwiseGather : DirectGather<kConfig> {};
template <KernelConfig kConfig>
struct DepthwiseGather<kConfig, false, true> : DirectGatherTile<kConfig> {};
template <KernelConfig kConfig, bool kTile>
struct DepthwiseGather<kConfig, true, kTile> : DirectGatherWeight<kConfig> {};

}  // namespace wt
