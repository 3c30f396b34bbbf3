// SPDX-License-Identifier: Apache-2.0
// kernels/tma/bind.h - what launches of the kinds with bulk tensor copies share.
#pragma once

#include "kernels/view.h"
#include "launch/binding.h"
#include "launch/device_info.h"

namespace wt {

// The filter as operand B: {channels of a group, taps, output channels}.
TensorMapSpec filter_map(const KernelConfig& config, const ConvProblem& problem);

// Forward and backward data as regions of output pixels, of a problem as its kernel sees it.
Binding bind_regions(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits);

// Weight gradients, by kernels/tma_weight/bind.cc.
Binding bind_gradient(const KernelConfig& config, const View& seen, const DeviceInfo& device, int splits);

}  // namespace wt
