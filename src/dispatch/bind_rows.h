// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_rows.h - launches of the Hopper kernel for few input channels (kernel/gemm/rows).
#pragma once

#include "dispatch/bind.h"

namespace wt {

Binding bind_rows(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);

}  // namespace wt
