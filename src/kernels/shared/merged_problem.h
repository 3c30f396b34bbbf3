// SPDX-License-Identifier: Apache-2.0
// kernels/shared/merged_problem.h - a problem as kernels with groups_per_tile see it: fewer, wider groups.
#pragma once

#include <algorithm>

#include "problem/problem.h"

namespace wt {

// `groups` of them become one.
inline ConvProblem merged_problem(int groups, ConvProblem problem) {
  // WHY the least: a prediction may come before the constraint that the groups divide.
  problem.g = std::max<int64_t>(1, problem.g / groups);
  return problem;
}

}  // namespace wt
