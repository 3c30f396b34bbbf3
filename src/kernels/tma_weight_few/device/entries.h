// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_few/device/entries.h - the kernel and the launches beside it: what a source of kind tma_weight_few
// instantiates.
#pragma once

#include "kernels/tma_weight_few/device/kernel.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaWeightFewSum : PartSum<kConfig, WeightFewPlaces<kConfig>> {};

}  // namespace wt
