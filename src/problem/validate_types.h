// SPDX-License-Identifier: Apache-2.0
// problem/validate_types.h - which types go together, and what comes of scales of blocks and of int8.
#pragma once

#include "base/status.h"
#include "problem/problem.h"

namespace wt {

Status validate_types(const ConvProblem& problem);
// What int8 leaves out, and zero points, which only int8 has; of a problem whose sizes are valid.
Status validate_int8(const ConvProblem& problem);

}  // namespace wt
