// SPDX-License-Identifier: Apache-2.0
// kernels/depthwise_strips/device/entries.h - the strips kernels by direction, and the sum of their parts.
#pragma once

#include "kernels/depthwise_strips/device/kernel.h"
#include "kernels/depthwise_strips/device/weight.h"
#include "kernels/device/direct/sum.h"

namespace wt {

template <KernelConfig kConfig, bool kWeight = strips::is_weight(kConfig)>
struct StripsKernel : DepthwiseStrips<kConfig> {};
template <KernelConfig kConfig>
struct StripsKernel<kConfig, true> : DepthwiseStripsWeight<kConfig> {};

}  // namespace wt
