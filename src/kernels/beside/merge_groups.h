// SPDX-License-Identifier: Apache-2.0
// kernels/beside/merge_groups.h - groups that a kernel takes several at a time (kernels/beside/device/merge_groups.h).
#pragma once

#include "kernels/shared/merged_problem.h"
#include "launch/binding.h"

namespace wt {

// Puts the launch that makes the merged filter before `binding`, which was made for merged_problem, and lets its
// reads of w go to the workspace instead.
Binding with_merged_filter(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                           Binding binding);

}  // namespace wt
