// SPDX-License-Identifier: Apache-2.0
// config/kernels/gemm_tma_halo.h - the kernels of gemm_tma.cc whose patches serve several taps.
#pragma once

#include <vector>

#include "config/kernels/gemm_tma_shapes.h"

namespace wt::tma_proposals {

// 3x3 filters with stride 1: a shape, and all of them.
void propose_halo(const KernelConfig& base, const Shape& shape, std::vector<KernelConfig>& configs,
                  Staging staging = Staging::kShared);
void propose_halos(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs);

// Filters one tap wide, three taps high.
void propose_columns(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs);

}  // namespace wt::tma_proposals
