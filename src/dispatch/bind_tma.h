// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_tma.h - launches of the Hopper kernels: tensor maps, regions and tiles (kernel/gemm/tma).
#pragma once

#include "dispatch/bind.h"

namespace wt {

Binding bind_tma(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);
Binding bind_tma_weight(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);

}  // namespace wt
