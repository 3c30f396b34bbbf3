// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_merge_groups.h - groups that a kernel takes several at a time (kernel/merge_groups.h).
#pragma once

#include "dispatch/bind.h"

namespace wt {

// The problem as a kernel with groups_per_tile sees it: fewer, wider groups.
ConvProblem merged_problem(const KernelConfig& config, ConvProblem problem);

// Puts the launch that makes the merged filter before `binding`, which was made for merged_problem, and lets its
// copies of w read the workspace instead.
Binding with_merged_filter(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                           Binding binding);

}  // namespace wt
