// SPDX-License-Identifier: Apache-2.0
// config/kernels/gemm_tma_weight_halo.h - the part of gemm_tma.cc's proposals whose patches of x serve several taps.
#pragma once

#include <vector>

#include "config/kernels.h"

namespace wt {

void propose_weight_halo(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs);

}  // namespace wt
