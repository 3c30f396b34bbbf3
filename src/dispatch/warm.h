// SPDX-License-Identifier: Apache-2.0
// dispatch/warm.h - which operands a kernel brings into the L2 before its first copies (kernel/gemm/tma/warm.h).
#pragma once

#include <cstdint>

#include "kernel/gemm/tma/warm_arguments.h"
#include "problem/problem.h"
#include "runtime/launch.h"

namespace wt {

// Both operands of a problem, where they are small. Adds the pointers to `launch`, whose parameter block has the
// arguments at `at`.
WarmArguments bind_warm(Launch& launch, const ConvProblem& problem, uint32_t at);

}  // namespace wt
