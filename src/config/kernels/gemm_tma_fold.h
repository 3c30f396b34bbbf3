// SPDX-License-Identifier: Apache-2.0
// config/kernels/gemm_tma_fold.h - Hopper's kernels whose columns are the taps of a filter row times few output
// channels (kernel/gemm/tma/fold_kernel.h).
#pragma once

#include "config/kernels/gemm_tma_shapes.h"

namespace wt::tma_proposals {

void propose_folds(const KernelConfig& base, Breadth breadth, std::vector<KernelConfig>& configs);

}  // namespace wt::tma_proposals
