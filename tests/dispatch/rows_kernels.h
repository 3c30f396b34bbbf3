// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/rows_kernels.h - the kernels of pipeline rows, on the simulator.
#pragma once

#include <vector>

#include "dispatch/choice/candidates.h"
#include "exact_trial.h"

namespace wt {

inline bool is_rows(const KernelConfig& config) {
  return config.family() == Family::kGemm && config.gemm.pipeline == Pipeline::kRows;
}

// Those that accept the problem, in order of preference.
inline std::vector<RankedCandidate> rows_kernels(const ConvProblem& problem) {
  auto kernels = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
  std::erase_if(kernels, [](const RankedCandidate& c) { return !c.accepts() || !is_rows(c.config); });
  return kernels;
}

// The first of them with so many load warps gives exactly what the reference does.
inline void expect_exact_rows(const char* text, int load_warps) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of(text);
  auto kernels = rows_kernels(problem);
  std::erase_if(kernels, [&](const RankedCandidate& c) { return c.config.gemm.load_warps != load_warps; });
  ASSERT_FALSE(kernels.empty());
  expect_exact(*device, problem, kernels.front().config);
}

}  // namespace wt
