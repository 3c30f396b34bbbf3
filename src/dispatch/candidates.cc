// SPDX-License-Identifier: Apache-2.0
#include "dispatch/candidates.h"

#include <algorithm>

#include "config/fields.h"
#include "config/targets.h"
#include "dispatch/cost_model.h"

namespace wt {

std::vector<RankedCandidate> rank_candidates(const ConvProblem& problem, Target target, const PlanOptions& options,
                                             Candidates which) {
  const Requests requests{.deterministic = options.deterministic, .strict_nonfinite = options.strict_nonfinite};
  std::vector<RankedCandidate> ranked;
  for (Candidate& candidate : candidates_for(problem, target, which, requests)) {
    ranked.push_back({candidate.config, name_of(candidate.config), std::move(candidate.declines)});
  }
  for (RankedCandidate& candidate : ranked) {
    if (candidate.accepts()) candidate.predicted_us = predicted_us(candidate.config, problem, info_of(target).units);
  }
  const auto declining =
      std::stable_partition(ranked.begin(), ranked.end(), [](const RankedCandidate& c) { return c.accepts(); });
  std::stable_sort(ranked.begin(), declining,
                   [](const RankedCandidate& a, const RankedCandidate& b) { return a.predicted_us < b.predicted_us; });
  return ranked;
}

}  // namespace wt
