// SPDX-License-Identifier: Apache-2.0
// kernels/tma_halo/view.h - what the kernels that load patches see of a problem, where that is not as
// it is asked for.
#pragma once

#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt {

// Filters along d alone see the pixels of a plane as one row, and planes as rows. Other problems stay as they are.
ConvProblem flattened(const ConvProblem& problem);

struct HaloView {
  ConvProblem problem;
  // In one dimension pixels lie below each other, and those of different images beside each other: only the strides
  // know, which `problem` does not tell.
  bool beside = false;
};

// For kernels with loader_a=tma_halo: those for filters one tap wide see the three taps below each other.
HaloView halo_view(const KernelConfig& config, const ConvProblem& problem);

// The filter that those see. WHY apart: a choice asks for it at every such kernel.
Spatial column_filter(const ConvProblem& problem);

}  // namespace wt
