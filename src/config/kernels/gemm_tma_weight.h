// SPDX-License-Identifier: Apache-2.0
// config/kernels/gemm_tma_weight.h - the weight gradients among the kernels of gemm_tma.cc.
#pragma once

#include <vector>

#include "config/kernels.h"

namespace wt::tma_proposals {

void propose_weight(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs);

}  // namespace wt::tma_proposals
