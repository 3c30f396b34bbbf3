// SPDX-License-Identifier: Apache-2.0
// kernels/tcgen05_halo/device/entries.h - the kernels and the launches beside them: what a source of kind tcgen05_halo
// instantiates.
#pragma once

#include "kernels/beside/device/merge_groups.h"
#include "kernels/beside/device/split_sum.h"
#include "kernels/beside/device/whole_rows.h"
#include "kernels/tcgen05/device/kernel.h"
#include "kernels/tcgen05_halo/device/patch_tiles.h"
#include "kernels/tcgen05_halo/device/weight_kernel.h"

namespace wt {

template <KernelConfig kConfig, Direction kDirection = kConfig.direction>
struct Tcgen05HaloKernel : Tcgen05Gemm<kConfig, PatchTiles<kConfig>> {};
template <KernelConfig kConfig>
struct Tcgen05HaloKernel<kConfig, Direction::kBackwardWeight> : Tcgen05HaloWeight<kConfig> {};

}  // namespace wt
