// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight_halo/device/entries.h - the kernel and the launches beside it: what a source of kind
// tma_weight_halo instantiates.
#pragma once

#include "kernels/beside/device/whole_rows.h"
#include "kernels/tma_weight_halo/device/kernel.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaWeightHaloSum : PartSum<kConfig, WeightHaloPlaces<kConfig>> {};

}  // namespace wt
