// SPDX-License-Identifier: Apache-2.0
// dispatch/trial/small_problem.h - a problem that a given kernel accepts and that even a simulator computes in a
// moment.
#pragma once

#include <optional>

#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt {

// The first that `config` accepts of small layers of every shape that kernels ask for; nothing where it accepts none.
// A kernel whose bits may differ from run to run is taken at its word.
std::optional<ConvProblem> small_problem_for(const KernelConfig& config);

}  // namespace wt
