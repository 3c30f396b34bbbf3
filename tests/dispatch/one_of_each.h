// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/one_of_each.h - of all kernels that take a problem, one of each way out of the accumulators.
#pragma once

#include <set>
#include <tuple>

#include "dispatch/choice/candidates.h"
#include "exact_trial.h"
#include "kernels/kind.h"

namespace wt {

inline std::vector<KernelConfig> one_of_each(const ConvProblem& problem, Target target) {
  std::vector<KernelConfig> kernels;
  std::set<std::tuple<Kind, SplitK, StreamK, Staging, bool, bool, bool>> seen;
  for (const RankedCandidate& c : rank_candidates(problem, target, {}, Breadth::kAll)) {
    const GemmConfig& gemm = c.config.gemm;
    if (!c.accepts()) continue;
    const bool streams = c.config.family() == Family::kDirect && c.config.direct.register_weights;
    if (seen.emplace(c.config.kind, gemm.split_k, gemm.stream_k, gemm.staging, gemm.groups_per_tile > 1,
                     gemm.loader_a == Loader::kTmaHalo || gemm.loader_b == Loader::kTmaHalo, streams)
            .second)
      kernels.push_back(c.config);
  }
  return kernels;
}

}  // namespace wt
