// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/portable_kernels.h - which portable kernels a test runs.
#pragma once

#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "config/rules.h"
#include "dispatch/candidates.h"
#include "kernel/gemm/portable/layout.h"

namespace wt {

inline std::vector<KernelConfig> portable_kernels(const ConvProblem& problem, Target target) {
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& candidate : rank_candidates(problem, target, {}, Candidates::kAll))
    if (candidate.accepts() && portable_layout::serves(candidate.config)) kernels.push_back(candidate.config);
  return kernels;
}

// Of each loop and way of moving data, the one with the smallest tile, because the simulator is slow, or the largest.
inline std::vector<KernelConfig> one_of_each_loop(const ConvProblem& problem, Target target, bool largest = false) {
  const auto loop = [](const KernelConfig& c) {
    return std::tuple(c.gemm.pipeline, c.gemm.scheduler, c.gemm.load_warps, portable_layout::is_async(c));
  };
  const auto size = [&](const KernelConfig& c) {
    return (largest ? -1 : 1) * int{c.gemm.tile.m} * c.gemm.tile.n * c.gemm.tile.k;
  };
  std::map<decltype(loop(KernelConfig{})), KernelConfig> found;
  for (const KernelConfig& config : portable_kernels(problem, target)) {
    const auto [at, fresh] = found.try_emplace(loop(config), config);
    if (!fresh && size(config) < size(at->second)) at->second = config;
  }
  std::vector<KernelConfig> kernels;
  for (const auto& [key, config] : found) kernels.push_back(config);
  return kernels;
}

}  // namespace wt
