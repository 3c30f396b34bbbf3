// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/kernel_decision.h - decisions for one kernel, without what is around it: by name or config, by the
// caller's function, registered, tuned, or by the least predicted time (decision.h).
#pragma once

#include "dispatch/choice/decision.h"

namespace wt {

Decision kernel_decision(const ConvProblem& problem, const PlanOptions& options, const KernelConfig& config,
                         std::string reason);

// The kernel that the caller named or configured, which must exist and accept the problem.
Result<Decision> named_kernel(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options);

// The one kernel of a problem, or why there is none. `failed` are kernels that could not be compiled or loaded, and
// `note` says so, after "; ".
struct KernelDecision {
  std::optional<Decision> found;
  Status nothing;
};
Result<KernelDecision> decide_kernel(const DeviceInfo& device, const ConvProblem& problem, const PlanOptions& options,
                                     tuning::CodeCheck check, const std::vector<KernelConfig>& failed = {},
                                     const std::string& note = {});
// The kernel of an entry of the tuning database, which is valid.
Decision tuned_kernel(const ConvProblem& problem, const PlanOptions& options, const tuning::Tuned& tuned);

}  // namespace wt
