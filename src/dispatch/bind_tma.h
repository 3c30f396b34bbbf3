// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_tma.h - launches of the Hopper kernels: tensor maps, regions and tiles (kernel/gemm/tma).
#pragma once

#include "dispatch/bind.h"

namespace wt {

Binding bind_tma(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);
Binding bind_tma_halo(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);
Binding bind_tma_weight_few(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);
Binding bind_tma_weight_halo(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);
Binding bind_tma_weight(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);

// The filter as operand B: {channels of a group, taps, output channels}.
TensorMapSpec filter_map(const KernelConfig& config, const ConvProblem& problem);

}  // namespace wt
