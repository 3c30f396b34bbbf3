// SPDX-License-Identifier: Apache-2.0
// dispatch/kernel_plan.h - the plan of a device with kernels: one compiled configuration, bound to one problem.
#pragma once

#include "config/kernel_config.h"
#include "dispatch/plan.h"

namespace wt {

// Generates, compiles, loads and binds `config`, which accepts `problem`. `reason` says why it was chosen.
Result<std::shared_ptr<const Plan>> make_kernel_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                                     const KernelConfig& config, std::string reason);

}  // namespace wt
