// SPDX-License-Identifier: Apache-2.0
// kernels/beside/fnuz_copy.h - the launch of kernels/beside/device/fnuz_copy.h.
#pragma once

#include "kernels/beside/device/fnuz_copy_arguments.h"
#include "launch/binding.h"

namespace wt {

// Puts the launch that copies the e4m3 operands of forward, or dy of backward data, as FNUZ numbers before `binding`,
// whose kernel reads the copies in the workspace instead. A transposed filter is converted as it is transposed.
Binding with_fnuz_copies(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device,
                         Binding binding);

}  // namespace wt
