// SPDX-License-Identifier: Apache-2.0
// config/merged_problem.h - a problem as kernels with groups_per_tile see it: fewer, wider groups.
#pragma once

#include <algorithm>

#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt {

inline ConvProblem merged_problem(const KernelConfig& config, ConvProblem problem) {
  // WHY the least: a prediction may come before the constraint that the groups divide.
  problem.g = std::max<int64_t>(1, problem.g / config.gemm.groups_per_tile);
  return problem;
}

}  // namespace wt
