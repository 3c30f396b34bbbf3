// SPDX-License-Identifier: Apache-2.0
// dispatch/cpu_plan.h - a plan for the CPU, over runtime/cpu/provider.h.
#pragma once

#include "dispatch/plan.h"

namespace wt {

// PlanOptions::kernel may be "onednn" or "builtin" to force a path; a workspace limit is always kept, zero included,
// unless that forces oneDNN, which says what it needs.
Result<std::shared_ptr<const Plan>> make_cpu_plan(std::shared_ptr<Device> device, const ConvProblem& problem,
                                                  const PlanOptions& options);

}  // namespace wt
