// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/transposed.h - a channels-first problem served by a channels-last kernel between transpositions.
//
//   x, w --transpose--> workspace --channels-last plan--> workspace --transpose--> y
//
// Matrix instructions want channels next to each other, and few kernels read them otherwise. Two more trips through
// memory cost less than a slow kernel.
#pragma once

#include "dispatch/plan/plan.h"
#include "launch/rates.h"

namespace wt {

// The same convolution with channels-last tensors.
ConvProblem channels_last(const ConvProblem& problem);

// How many tensors are turned round, the workspace beyond the inner plan's, in bytes, and the time that it should take.
size_t transposition_count(const ConvProblem& problem);
int64_t transposition_bytes(const ConvProblem& problem);
double transposition_us(const ConvProblem& problem, const Rates& rates);

// `inner` executes channels_last(problem), which has no store of the user's. `reason` stands before the inner plan's.
Result<std::shared_ptr<const Plan>> make_transposed_plan(const std::shared_ptr<Device>& device,
                                                         const ConvProblem& problem, std::shared_ptr<const Plan> inner,
                                                         const std::string& reason);

}  // namespace wt
