// SPDX-License-Identifier: Apache-2.0
// dispatch/selection.h - the kernels that accept a problem, by predicted time, quick enough for every first call.
//
//   signature --proposals, made once--> configs --constraint rows, cost_model.h--> ranking --> plan.cc, tuning/tuner.h
//
// candidates.h says the same with names and with the reasons of those that decline, for people.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "config/rules.h"
#include "dispatch/plan.h"

namespace wt {

struct RankedConfig {
  const KernelConfig* config;  // lives as long as the process
  double predicted_us;
};

// Every kernel that accepts, the least predicted time first.
std::vector<RankedConfig> rank(const ConvProblem& problem, Target target, int multiprocessors,
                               const PlanOptions& options, Candidates which = Candidates::kAll);

// The first of that list that `allowed` lets pass; nothing where there is none. `allowed` is asked only of what would
// be faster than the best so far.
std::optional<RankedConfig> pick(const ConvProblem& problem, Target target, int multiprocessors,
                                 const PlanOptions& options, const std::function<bool(const KernelConfig&)>& allowed);

// How many kernels are proposed for the problem's signature.
size_t proposal_count(const ConvProblem& problem, Target target, Candidates which = Candidates::kAll);

}  // namespace wt
