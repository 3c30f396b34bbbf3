// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/exact_trial.h - one kernel on one problem in the simulator, compared bit for bit on small integers.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>

#include <memory>
#include <string>
#include <vector>

#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/trial/trial.h"
#include "runtime/device.h"

namespace wt {

inline ConvProblem problem_of(const std::string& text) {
  auto problem = parse_problem(text);
  EXPECT_TRUE(problem.ok()) << text << ": " << problem.status().message();
  return *problem;
}

// The simulated Hopper that these tests run on.
inline std::shared_ptr<Device> simulated_hopper() {
  const auto device = open_device("sim:sm_90a");
  EXPECT_TRUE(device.ok()) << device.status().message();
  return device.ok() ? *device : nullptr;
}

// The accepting kernel for Hopper that comes first of those wanted.
template <class Wanted>
KernelConfig first_kernel(const ConvProblem& problem, Wanted wanted, const PlanOptions& options = {}) {
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, options, Breadth::kAll))
    if (c.accepts() && wanted(c.config)) return c.config;
  ADD_FAILURE() << "no such kernel for " << to_text(problem);
  return {};
}

// None of the kernels that `serves` knows accepts the problem where non-finite values matter, though one does else.
template <class Serves>
void expect_finite_only(const ConvProblem& problem, Serves serves) {
  int accepting = 0;
  for (const bool strict : {false, true}) {
    PlanOptions options;
    options.strict_nonfinite = strict;
    for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, options, Breadth::kAll)) {
      if (!c.accepts() || !serves(c.config)) continue;
      EXPECT_FALSE(strict) << c.name;
      ++accepting;
    }
  }
  EXPECT_GT(accepting, 0) << to_text(problem);
}

// `splits` is PlanOptions::splits.
inline void expect_exact(const std::shared_ptr<Device>& device, const ConvProblem& problem, const KernelConfig& config,
                         int splits = 0) {
  auto plan = make_kernel_plan(device, problem, config, "tested", {}, splits);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  auto tensors = TrialTensors::make(device, problem, true, 7);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  TrialOptions options;
  options.exact = true;
  options.seed = 7;
  options.time = false;
  const TrialResult result = run_trial(**tensors, **plan, options);
  EXPECT_TRUE(result.verified) << to_text(problem) << " by " << name_of(config) << ": " << result.status.message();
}

// What the kernel makes of random data in the simulator, whose blocks and warps run in the order that `seed` says.
inline std::vector<std::byte> random_output(const ConvProblem& problem, const KernelConfig& config, const char* seed,
                                            int splits = 0) {
  ::setenv("WAVETILE_SIM_SEED", seed, 1);
  const auto device = open_device("sim:sm_90a");
  ::unsetenv("WAVETILE_SIM_SEED");
  EXPECT_TRUE(device.ok()) << device.status().message();
  const auto plan = make_kernel_plan(*device, problem, config, "tested", {}, splits);
  const auto tensors = TrialTensors::make(*device, problem, false, 5);
  EXPECT_TRUE(plan.ok() && tensors.ok()) << plan.status().message() << tensors.status().message();
  if (!plan.ok() || !tensors.ok()) return {};
  TrialOptions options;
  options.seed = 5;
  options.time = false;
  const TrialResult result = run_trial(**tensors, **plan, options);
  EXPECT_TRUE(result.verified) << to_text(problem) << ": " << result.status.message();
  const Buffer& output = output_of(problem, (*tensors)->host());
  return {output.data(), output.data() + output.size()};
}

}  // namespace wt
