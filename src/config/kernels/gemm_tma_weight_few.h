// SPDX-License-Identifier: Apache-2.0
// config/kernels/gemm_tma_weight_few.h - weight gradients of few output channels among the kernels of gemm_tma.cc.
#pragma once

#include <vector>

#include "config/kernels.h"

namespace wt {

void propose_weight_few(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs);

}  // namespace wt
