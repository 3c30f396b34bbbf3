// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_rows_weight.h - launches of Hopper's weight gradient for few channels.
#pragma once

#include "dispatch/bind.h"

namespace wt {

Binding bind_rows_weight(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);

}  // namespace wt
