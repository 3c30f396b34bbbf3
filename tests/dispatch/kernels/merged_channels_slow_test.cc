// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/merged_channels_slow_test.cc - depthwise layers as merged groups, exact on small integers on
// the simulator: all channels as one product, or 64 of them.
#include <gmock/gmock.h>

#include <set>

#include "rules/rules.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

class MergedChannels : public testing::TestWithParam<const char*> {};

// The first kernel of every kind that merges as many groups.
TEST_P(MergedChannels, AreExact) {
  const auto device = simulated_hopper();
  const ConvProblem problem = problem_of(GetParam());
  std::set<Kind> seen;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    if (c.accepts() && c.config.gemm.groups_per_tile >= 32 && seen.insert(c.config.kind).second)
      expect_exact(device, problem, c.config);
  }
  EXPECT_FALSE(seen.empty()) << to_text(problem);
}

INSTANTIATE_TEST_SUITE_P(Problems, MergedChannels,
                         testing::Values("fwd bf16 n2 c32 k128 g32 i10x11 f3x3 p1",
                                         "bwd_data bf16 n2 c32 k128 g32 i10x11 f3x3 p1",
                                         "bwd_weight bf16 n2 c32 k128 g32 i10x11 f3x3 p1",
                                         "fwd bf16 n1 c64 k128 g64 i12x11 f3x3 s2 p1 +bias+relu",
                                         "bwd_data bf16 n1 c64 k128 g64 i12x11 f3x3 s2 p1",
                                         "fwd bf16 n1 c128 k128 g128 i12x11 f3x3 d2 p2"));

}  // namespace
}  // namespace wt
