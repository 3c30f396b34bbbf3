// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_atomic_slow_test.cc - Hopper's weight gradients whose blocks add to one sum: only on
// request, and exact on small integers, whose order does not matter.
#include "kernels/constraints.h"
#include "kernels/kind.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

bool is_atomic(const KernelConfig& config) {
  return config.family() == Family::kGemm && config.gemm.split_k == SplitK::kAtomic;
}

KernelConfig atomic_kernel(const ConvProblem& problem, int m, int n) {
  PlanOptions options;
  options.deterministic = false;
  return first_kernel(
      problem, [&](const KernelConfig& c) { return is_atomic(c) && c.gemm.tile.m == m && c.gemm.tile.n == n; },
      options);
}

// Parts that do not divide the pixels, several tiles, rows, channels and taps that end in a tile, groups, beta.
TEST(TmaWeightAtomic, IsExact) {
  struct Sums {
    const char* problem;
    int m, n, splits;
  };
  for (const Sums& at : {Sums{"bwd_weight bf16 n5 c72 k136 i9x11 f3x3 p1 +alpha=2+residual", 64, 64, 3},
                         Sums{"bwd_weight fp16 n2 g2 c144 k272 i9x8 f1x1", 128, 128, 2},
                         Sums{"bwd_weight bf16>fp32 n3 c72 k40 i7x6 f1x2", 64, 128, 1}}) {
    const ConvProblem problem = problem_of(at.problem);
    const KernelConfig config = atomic_kernel(problem, at.m, at.n);
    const auto device = simulated_hopper();
    const Binding binding = bind(config, problem, device->info(), at.splits);
    EXPECT_EQ(binding.parts, at.splits) << at.problem;
    EXPECT_EQ(binding.workspace_bytes, problem.w_elements() * 4) << at.problem;
    expect_exact(device, problem, config, at.splits);
  }
}

// The sum is zeroed by each execution, not by the first alone.
TEST(TmaWeightAtomic, RunsByNameOnRequestAlone) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n4 c64 k64 i8x8 f1x1");
  TrialOptions options;
  options.exact = true;
  options.time = false;
  options.same = 2;
  options.plan.kernel = name_of(atomic_kernel(problem, 64, 64));
  options.plan.splits = 3;
  const auto device = simulated_hopper();
  const TrialResult declined = run_trial(device, problem, options);
  EXPECT_FALSE(declined.status.ok());
  EXPECT_NE(declined.status.message().find("deterministic=false"), std::string::npos) << declined.status.message();
  options.plan.deterministic = false;
  const TrialResult result = run_trial(device, problem, options);
  EXPECT_TRUE(result.verified) << result.status.message();
  EXPECT_EQ(result.plan.kernel, options.plan.kernel);
}

TEST(TmaWeightAtomic, IsDeclinedByDefault) {
  int declined = 0;
  for (const char* text : {"bwd_weight bf16 n16 c64 k64 i56x56 f3x3 p1", "bwd_weight bf16 n4 c64 k64 i8x8 f1x1"}) {
    for (const RankedCandidate& c : rank_candidates(problem_of(text), Target::kSm90a, {}, Breadth::kAll)) {
      if (!is_atomic(c.config)) continue;
      EXPECT_FALSE(c.accepts()) << c.name;
      ++declined;
    }
  }
  EXPECT_GE(declined, 6);
}

}  // namespace
}  // namespace wt
