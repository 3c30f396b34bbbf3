// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_wavelet.h - launches of the Hopper kernels whose load warps gather.
#pragma once

#include "dispatch/bind.h"

namespace wt {

Binding bind_wavelet(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);

}  // namespace wt
