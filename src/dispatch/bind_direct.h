// SPDX-License-Identifier: Apache-2.0
// dispatch/bind_direct.h - launches of the direct kernels.
#pragma once

#include "dispatch/bind.h"
#include "dispatch/conv_arguments.h"

namespace wt {

Binding bind_direct(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);

// Which tensors a direct kernel reads: x and w, dy and w, or x and dy.
Tensor direct_first(Direction direction);
Tensor direct_second(Direction direction);

// Completes a binding whose first launch writes `splits` partial sums of dw: its workspace and the launch that adds.
// `out` is the offset of the pointer to the partial sums in the first launch's parameters.
void bind_direct_sum(Binding& binding, const KernelConfig& config, const ConvProblem& problem, uint32_t out,
                     int64_t splits);

Binding bind_direct_stream(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);
Binding bind_direct_banded(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);
Binding bind_direct_groups(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);
Binding bind_direct_stacked(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);
Binding bind_direct_gather(const KernelConfig& config, const ConvProblem& problem, const DeviceInfo& device);

}  // namespace wt
