// SPDX-License-Identifier: Apache-2.0
// dispatch/transposed_plan.h - a channels-first problem served by a channels-last kernel between transpositions.
//
//   x, w --transpose--> workspace --channels-last plan--> workspace --transpose--> y
//
// Matrix instructions want channels next to each other, and few kernels read them otherwise. Two more trips through
// memory cost less than a slow kernel.
#pragma once

#include "dispatch/plan.h"

namespace wt {

// The same convolution with channels-last tensors.
ConvProblem channels_last(const ConvProblem& problem);

// Workspace beyond the inner plan's, in bytes, and the time that the transpositions should take.
int64_t transposition_bytes(const ConvProblem& problem);
double transposition_us(const ConvProblem& problem);

// `inner` executes channels_last(problem).
Result<std::shared_ptr<const Plan>> make_transposed_plan(const std::shared_ptr<Device>& device,
                                                         const ConvProblem& problem, std::shared_ptr<const Plan> inner);

}  // namespace wt
