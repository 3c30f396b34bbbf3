// SPDX-License-Identifier: Apache-2.0
// generate/single.h - single kernels by their knobs: what was given is kept, the rest takes defaults that the target
// allows, and a note says where a default had to give way.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "config/targets.h"
#include "generate/options.h"
#include "rules/rules.h"

namespace wt {

// Whether any knob of a single kernel was given.
bool asks_for_single_kernel(const GenerateValues& values);

struct SingleKernels {
  std::vector<KernelConfig> kernels;
  std::vector<std::string> notes;
};

// One kernel for each target, direction, type, dimension and layout of the query (where it is silent: forward, bf16,
// 2D, channels-last). Fails with the constraints that a given value breaks.
Result<SingleKernels> single_kernels(const GenerateValues& values, const std::vector<TargetName>& targets,
                                     const RuleQuery& query);

// The one kernel of a problem's signature (config/signature.h).
Result<SingleKernels> single_kernel_for(const GenerateValues& values, const KernelConfig& signature);

}  // namespace wt
