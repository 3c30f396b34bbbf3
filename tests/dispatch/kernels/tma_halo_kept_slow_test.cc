// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_halo_kept_slow_test.cc - Hopper kernels that load patches on the simulator: with a filter
// that stays in shared memory, and for backward data with strides of two, whose four phases they sum side by side.
#include <vector>

#include "dispatch/choice/candidates.h"
#include "kernels/tma/device/layout.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// The best guess among those that accept the problem. WHY one: each is compiled for the simulator first.
template <class Wanted>
std::vector<KernelConfig> forms(const ConvProblem& problem, Wanted&& wanted) {
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    if (c.accepts() && tma_layout::is_halo(c.config) && wanted(c.config)) return {c.config};
  }
  return {};
}

bool is_kept(const KernelConfig& config) {
  return tma_layout::keeps_filter(config) && !tma_layout::halo_phased(config);
}

class KeptFilter : public ::testing::TestWithParam<const char*> {};

// The first has more tiles than there are blocks: a block's second tile meets the filter of its first.
TEST_P(KeptFilter, ServesEveryTileOfABlock) {
  const ConvProblem problem = problem_of(GetParam());
  const std::vector<KernelConfig> kernels = forms(problem, is_kept);
  ASSERT_FALSE(kernels.empty());
  for (const KernelConfig& kernel : kernels) expect_exact(simulated_hopper(), problem, kernel);
}

INSTANTIATE_TEST_SUITE_P(
    Problems, KeptFilter,
    ::testing::Values("fwd bf16 n140 c24 k24 i3x3 f3x3 p1",
                      "bwd_data fp16 n2 c40 k72 i18x9 f3x3 p1x2 +residual",  // two blocks of channels
                      "fwd bf16 n1 c16 k24 i2x4x9 f3x3x3 p1 +bias+relu"));

class Phases : public ::testing::TestWithParam<const char*> {};

TEST_P(Phases, AreSummedSideBySide) {
  const ConvProblem problem = problem_of(GetParam());
  const std::vector<KernelConfig> kernels = forms(problem, tma_layout::halo_phased);
  ASSERT_FALSE(kernels.empty());
  for (const KernelConfig& kernel : kernels) expect_exact(simulated_hopper(), problem, kernel);
}

INSTANTIATE_TEST_SUITE_P(
    Problems, Phases,
    ::testing::Values("bwd_data bf16 n140 c8 k16 i3x4 f3x3 s2 p1",             // more tiles than blocks
                      "bwd_data fp16 n1 c72 k136 i33x17 f3x3 s2 p0:1x2:0",     // even padding, odd sizes
                      "bwd_data bf16 n2 c64 k32 i16x16 f3x3 s2 p1 +residual",  // half a box
                      "bwd_data bf16 n2 c18 k36 i10x12 f3x3 s2 p1",            // copied rows
                      "bwd_data bf16 n1 c96 k128 g2 i9x8 f3x3 s2 p2",          // groups
                      "bwd_data bf16 n1 c8 k8 i2x1 f3x3 s2 p1"));              // less than a tile

TEST(PhasesChoice, AreOfStridesOfTwoAlone) {
  const auto count = [](const char* text) { return forms(problem_of(text), tma_layout::halo_phased).size(); };
  EXPECT_GT(count("bwd_data bf16 n1 c64 k64 i16x16 f3x3 s2 p1"), 0u);
  EXPECT_EQ(count("bwd_data bf16 n1 c64 k64 i16x16 f3x3 p1"), 0u);
  EXPECT_EQ(count("bwd_data bf16 n1 c64 k64 i16x16 f3x3 s2x1 p1"), 0u);
  EXPECT_EQ(count("bwd_data bf16 n1 c64 k64 i16x16 f5x5 s2 p2"), 0u);
}

}  // namespace
}  // namespace wt
