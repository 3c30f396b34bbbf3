// SPDX-License-Identifier: Apache-2.0
// dispatch/warm.h - which operands a kernel brings into the L2 before its first copies (kernel/gemm/tma/warm.h).
#pragma once

#include <cstdint>

#include "kernel/gemm/tma/warm_arguments.h"
#include "problem/problem.h"
#include "runtime/launch.h"

namespace wt {

// Both operands of a problem that is small. `at_once`: about all that a block reads is on its way at once, so that
// nothing could start earlier. Adds the pointers to `launch`, whose parameter block has the arguments at `at`.
WarmArguments bind_warm(Launch& launch, const ConvProblem& problem, bool at_once, uint32_t at);

}  // namespace wt
