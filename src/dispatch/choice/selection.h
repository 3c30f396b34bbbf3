// SPDX-License-Identifier: Apache-2.0
// dispatch/choice/selection.h - the kernels that accept a problem, by predicted time, quick enough for every first
// call.
//
//   signature --proposals, made once--> configs --constraint rows, predictions--> ranking --> plan.cc, tuning/tuner.h
//
// candidates.h says the same with names and with the reasons of those that decline, for people.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "dispatch/plan/plan.h"
#include "kernels/view.h"
#include "rules/rules.h"

namespace wt {

struct RankedConfig {
  const KernelConfig* config;  // lives as long as the process
  double predicted_us;
};

// Every kernel that accepts, the least predicted time first.
std::vector<RankedConfig> rank(const ConvProblem& problem, const Rates& rates, const PlanOptions& options,
                               Breadth which = Breadth::kAll);

// The first of that list, for the problem of `view`, that `allowed` lets pass; nothing where there is none. `allowed`
// is asked only of what would be faster than the best so far.
std::optional<RankedConfig> pick(const View& view, const PlanOptions& options,
                                 const std::function<bool(const KernelConfig&)>& allowed);

// How many kernels are proposed for the problem's signature.
size_t proposal_count(const ConvProblem& problem, Target target, Breadth which = Breadth::kAll);

}  // namespace wt
