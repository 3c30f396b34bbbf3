// SPDX-License-Identifier: Apache-2.0
// kernels/shared/direct_bind.h - launches of the direct kernels.
#pragma once

#include "kernels/shared/conv_arguments.h"
#include "launch/binding.h"

namespace wt {

// Which tensors a direct kernel reads: x and w, dy and w, or x and dy.
Tensor direct_first(Direction direction);
Tensor direct_second(Direction direction);

// Completes a binding whose first launch writes `splits` partial sums of dw: its workspace and the launch that adds.
// `out` is the offset of the pointer to the partial sums in the first launch's parameters.
void bind_direct_sum(Binding& binding, const KernelConfig& config, const ConvProblem& problem, uint32_t out,
                     int64_t splits);

}  // namespace wt
