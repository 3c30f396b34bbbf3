// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/portable_kernels.h - which portable kernels a test runs.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "dispatch/choice/candidates.h"
#include "kernels/portable/device/layout.h"
#include "rules/rules.h"
#include "runtime/device.h"

namespace wt {

inline std::vector<KernelConfig> portable_kernels(const ConvProblem& problem, Target target) {
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& candidate : rank_candidates(problem, target, {}, Breadth::kAll))
    if (candidate.accepts() && candidate.config.kind == Kind::kPortable) kernels.push_back(candidate.config);
  return kernels;
}

// For each loop and way of moving data, the one with the smallest tile, because the simulator is slow, or the largest.
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

inline bool is_divided(const KernelConfig& config) { return config.gemm.split_k == SplitK::kWorkspace; }

// The kernel with the least predicted time among those with the form.
template <class Form>
KernelConfig best_with(const ConvProblem& problem, Target target, Form form) {
  const auto kernels = portable_kernels(problem, target);
  const auto found = std::ranges::find_if(kernels, form);
  if (found != kernels.end()) return *found;
  ADD_FAILURE() << "no such kernel for " << to_text(problem) << " on " << text_of(target);
  return {};
}

inline std::shared_ptr<Device> simulated(Target target) {
  auto device = open_device("sim:" + std::string(text_of(target)));
  EXPECT_TRUE(device.ok()) << device.status().message();
  return *device;
}

}  // namespace wt
