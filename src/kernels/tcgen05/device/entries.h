// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05/device/entries.h - the kernels and the launches beside them: what a source of kind tcgen05
// instantiates.
#pragma once

#include "kernels/beside/device/merge_groups.h"
#include "kernels/beside/device/split_sum.h"
#include "kernels/beside/device/transpose.h"
#include "kernels/beside/device/whole_rows.h"
#include "kernels/tcgen05/device/kernel.h"
#include "kernels/tcgen05/device/weight_kernel.h"

namespace wt {

template <KernelConfig kConfig, Direction kDirection = kConfig.direction>
struct Tcgen05Kernel : Tcgen05Gemm<kConfig> {};
template <KernelConfig kConfig>
struct Tcgen05Kernel<kConfig, Direction::kBackwardWeight> : Tcgen05Weight<kConfig> {};

}  // namespace wt
