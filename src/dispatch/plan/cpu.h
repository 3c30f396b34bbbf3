// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/cpu.h - a plan for the CPU, over runtime/cpu/provider.h.
#pragma once

#include "dispatch/plan/plan.h"

namespace wt {

class CpuConvolution;

// PlanOptions::kernel may be "onednn" or "builtin" to force a path; a workspace limit is always kept, zero included,
// unless that forces oneDNN, which says what it needs.
Result<std::shared_ptr<const CpuConvolution>> prepare_cpu_path(const ConvProblem& problem, const PlanOptions& options);

// As a plan's description has it.
std::string cpu_path_name(const CpuConvolution& convolution);

std::shared_ptr<const Plan> make_cpu_plan(std::shared_ptr<Device> device,
                                          std::shared_ptr<const CpuConvolution> convolution);

}  // namespace wt
