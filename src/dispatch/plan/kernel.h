// SPDX-License-Identifier: Apache-2.0
// dispatch/plan/kernel.h - the plan of a device with kernels: one compiled configuration, bound to one problem.
#pragma once

#include "compile/compiler.h"
#include "config/kernel_config.h"
#include "dispatch/plan/plan.h"

namespace wt {

struct Binding;
class Registry;
class View;

struct PlanTimes {
  double predicted_us = 0, measured_us = 0;  // for the description
};

// Loads and binds `config`, which accepts `problem`: from a pack where WAVETILE_PACK names one that has it, else
// generated and compiled. `reason` says why it was chosen, `splits` is PlanOptions::splits, `view` is that of the
// choice; null: one is made. `own` are the caller's kernels (PlanOptions::kernels); null: none.
Result<std::shared_ptr<const Plan>> make_kernel_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                                     const KernelConfig& config, std::string reason,
                                                     const PlanTimes& times = {}, int splits = 0,
                                                     const View* view = nullptr, const Registry* own = nullptr);

// The compiled kernel as such a plan loads it; `pack` becomes the file it came from, if any.
Result<compile::Module> module_for(const DeviceInfo& device, const KernelConfig& config, std::string& pack,
                                   const Registry* own = nullptr);

// Whether that needs no compiler: a pack has it, or the cache.
bool is_compiled(const DeviceInfo& device, const KernelConfig& config);

// The same with a module that is already there and has the config's kernels.
Result<std::shared_ptr<const Plan>> make_kernel_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                                     const KernelConfig& config, const compile::Module& module,
                                                     std::string reason, int splits = 0);

// The same with launches that are bound already.
Result<std::shared_ptr<const Plan>> make_kernel_plan(const std::shared_ptr<Device>& device, const ConvProblem& problem,
                                                     const KernelConfig& config, const compile::Module& module,
                                                     std::string reason, Binding binding);

}  // namespace wt
