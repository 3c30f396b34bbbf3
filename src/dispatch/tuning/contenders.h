// SPDX-License-Identifier: Apache-2.0
// dispatch/tuning/contenders.h - the kernels that could be the fastest of one of many problems, by prediction: what is
// worth compiling ahead of tuning on another machine.
//
//   problems --selection.h: rank--> kernels near the first of a problem --> one list without repetitions
#pragma once

#include <span>
#include <vector>

#include "config/kernel_config.h"
#include "problem/problem.h"

namespace wt::tuning {

struct ContenderOptions {
  double within = 1.3;  // times the least predicted time of a problem
  size_t most = 0;      // kernels in all, those nearest to the first of a problem; 0: no limit
};

// In the order of how near they come. The model errs more between kinds of kernels than within one, so the best of
// another kind counts as nearer than it is predicted. Problems that no kernel of the target accepts add nothing.
std::vector<KernelConfig> contenders(std::span<const ConvProblem> problems, Target target,
                                     const ContenderOptions& options);

}  // namespace wt::tuning
