// SPDX-License-Identifier: Apache-2.0
#include "dispatch/candidates.h"

#include <algorithm>

#include "config/fields.h"

namespace wt {

std::vector<RankedCandidate> rank_candidates(const ConvProblem& problem, Target target, const PlanOptions& options,
                                             Candidates which) {
  const Requests requests{.deterministic = options.deterministic, .strict_nonfinite = options.strict_nonfinite};
  std::vector<RankedCandidate> ranked;
  for (Candidate& candidate : candidates_for(problem, target, which, requests)) {
    ranked.push_back({candidate.config, name_of(candidate.config), std::move(candidate.declines)});
  }
  std::stable_partition(ranked.begin(), ranked.end(), [](const RankedCandidate& c) { return c.accepts(); });
  return ranked;
}

}  // namespace wt
