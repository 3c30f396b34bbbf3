// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_halo_kept_test.cc - Hopper kernels that load patches on the simulator: with a filter that
// stays in shared memory, and for backward data with strides of two, whose four phases they sum side by side.
#include <algorithm>
#include <vector>

#include "dispatch/choice/candidates.h"
#include "kernels/tma/device/layout.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// At most two that accept the problem, of different forms: consumers, and whether the filter stays.
template <class Wanted>
std::vector<KernelConfig> forms(const ConvProblem& problem, Wanted&& wanted) {
  constexpr size_t kMost = 2;
  std::vector<KernelConfig> found;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    if (found.size() == kMost || !c.accepts() || !tma_layout::is_halo(c.config) || !wanted(c.config)) continue;
    const auto is_alike = [&](const KernelConfig& other) {
      return other.gemm.ping_pong == c.config.gemm.ping_pong &&
             (other.gemm.filter_rows > 0) == (c.config.gemm.filter_rows > 0);
    };
    if (std::ranges::none_of(found, is_alike)) found.push_back(c.config);
  }
  return found;
}

bool is_kept(const KernelConfig& config) {
  return tma_layout::keeps_filter(config) && !tma_layout::halo_phased(config);
}

class KeptFilter : public ::testing::TestWithParam<const char*> {};

// More tiles than blocks, so that a block's second tile meets the filter of its first.
TEST_P(KeptFilter, ServesEveryTileOfABlock) {
  const ConvProblem problem = problem_of(GetParam());
  const std::vector<KernelConfig> kernels = forms(problem, is_kept);
  ASSERT_FALSE(kernels.empty());
  for (const KernelConfig& kernel : kernels) expect_exact(simulated_hopper(), problem, kernel);
}

INSTANTIATE_TEST_SUITE_P(Problems, KeptFilter,
                         ::testing::Values("fwd bf16 n280 c24 k24 i3x3 f3x3 p1",
                                           "bwd_data fp16 n140 c40 k72 i5x3 f3x3 p1x2 +residual",  // two blocks of channels
                                           "fwd bf16 n70 c16 k24 i2x4x5 f3x3x3 p1 +bias+relu"));

class Phases : public ::testing::TestWithParam<const char*> {};

TEST_P(Phases, AreSummedSideBySide) {
  const ConvProblem problem = problem_of(GetParam());
  const std::vector<KernelConfig> kernels = forms(problem, tma_layout::halo_phased);
  ASSERT_FALSE(kernels.empty());
  for (const KernelConfig& kernel : kernels) expect_exact(simulated_hopper(), problem, kernel);
}

INSTANTIATE_TEST_SUITE_P(Problems, Phases,
                         ::testing::Values("bwd_data bf16 n140 c24 k64 i5x4 f3x3 s2 p1",            // odd height
                                           "bwd_data fp16 n1 c72 k136 i33x17 f3x3 s2 p0:1x2:0",     // even padding
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
