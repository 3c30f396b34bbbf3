// SPDX-License-Identifier: Apache-2.0
// kernels/tma_weight/device/entries.h - the kernel and the launches beside it: what a source of kind tma_weight
// instantiates.
#pragma once

#include "kernels/beside/device/merge_groups.h"
#include "kernels/beside/device/split_sum.h"
#include "kernels/beside/device/whole_rows.h"
#include "kernels/tma/device/stream_sum.h"
#include "kernels/tma_weight/device/kernel.h"

namespace wt {

template <KernelConfig kConfig>
struct TmaWeightSum : PartSum<kConfig, WeightPlaces<kConfig>> {};

template <KernelConfig kConfig>
struct TmaWeightStreamSum : StreamSum<kConfig, WeightStreamPlaces<kConfig>> {};

}  // namespace wt
