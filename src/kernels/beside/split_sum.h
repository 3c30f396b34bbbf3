// SPDX-License-Identifier: Apache-2.0
// kernels/beside/split_sum.h - the launch that adds the partial sums of a split kernel
// (kernels/beside/device/split_sum.h).
#pragma once

#include "launch/binding.h"

namespace wt {

// `splits` parts of the output, one after the other in the workspace, become the output.
Launch split_sum_launch(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device, int splits);

}  // namespace wt
