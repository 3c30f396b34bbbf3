// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_taps.h - the launch of Hopper's kernel for few output channels (kernel/gemm/taps).
#pragma once

#include "dispatch/bind.h"

namespace wt {

Binding bind_taps(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);

}  // namespace wt
