// SPDX-License-Identifier: Apache-2.0
// kernels/shared/warm.h - which operands a kernel brings into the L2 before its first copies
// (kernels/tma/device/warm.h).
#pragma once

#include <cstdint>

#include "kernels/tma/device/warm_arguments.h"
#include "launch/launch.h"
#include "problem/problem.h"

namespace wt {

// Both operands of a problem, where they are small. Adds the pointers to `launch`, whose parameter block has the
// arguments at `at`.
WarmArguments bind_warm(Launch& launch, const ConvProblem& problem, uint32_t at);

}  // namespace wt
