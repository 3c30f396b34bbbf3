// SPDX-License-Identifier: Apache-2.0
// kernels/beside/transpose_filter.h - the launch of kernels/beside/device/transpose_filter.h.
#pragma once

#include "kernels/beside/device/transpose_filter_arguments.h"
#include "launch/binding.h"
#include "problem/gemm_view.h"

namespace wt {

// Puts the launch that transposes the filter of backward data before `binding`, whose reads of w go to the workspace
// instead.
Binding with_transposed_filter(const KernelConfig& config, const ConvProblem& problem, Binding binding);

// Where a phase's taps begin in a row of the transposed filter.
int64_t first_tap(const ConvProblem& problem, const StridePhase& phase);

}  // namespace wt
