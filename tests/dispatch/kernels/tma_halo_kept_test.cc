// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_halo_kept_test.cc - Hopper kernels that load patches on the simulator: with a filter that
// stays in shared memory, and for backward data with strides of two, whose four phases they sum side by side.
#include <set>
#include <string>
#include <utility>

#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "kernels/tma/device/layout.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// One of each form that accepts the problem: tile, consumers, depth of a stage, whether the filter stays.
template <class Wanted>
std::vector<KernelConfig> forms(const ConvProblem& problem, Wanted&& wanted) {
  std::set<std::string> seen;
  std::vector<KernelConfig> found;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    if (!c.accepts() || !tma_layout::is_halo(c.config) || !wanted(c.config)) continue;
    const GemmConfig& gemm = c.config.gemm;
    if (seen.insert(fmt::format("{} {} {} {} {}", gemm.ping_pong, gemm.tile.k, gemm.filter_rows, gemm.tile.n > 64,
                                gemm.aligned_copy))
            .second)
      found.push_back(c.config);
  }
  return found;
}

bool is_kept(const KernelConfig& config) {
  return tma_layout::keeps_filter(config) && !tma_layout::halo_phased(config);
}

class KeptFilter : public ::testing::TestWithParam<std::pair<const char*, size_t>> {};

// More tiles than blocks, so that a block's second tile meets the filter of its first; images that end inside a tile.
TEST_P(KeptFilter, ServesEveryTileOfABlock) {
  const ConvProblem problem = problem_of(GetParam().first);
  const std::vector<KernelConfig> kernels = forms(problem, is_kept);
  EXPECT_GE(kernels.size(), GetParam().second);
  for (const KernelConfig& kernel : kernels) expect_exact(simulated_hopper(), problem, kernel);
}

INSTANTIATE_TEST_SUITE_P(Problems, KeptFilter,
                         ::testing::Values(std::pair{"fwd bf16 n280 c24 k24 i5x3 f3x3 p1", 4u},
                                           std::pair{"bwd_data fp16 n70 c40 k64 i18x10 f3x3 p1 +residual", 2u},
                                           std::pair{"fwd bf16 n140 c72 k32 i9x7 f3x3 p0x2", 2u},
                                           std::pair{"fwd bf16 n70 c16 k24 i2x4x5 f3x3x3 p1 +bias+relu", 2u}));

class Phases : public ::testing::TestWithParam<const char*> {};

TEST_P(Phases, AreSummedSideBySide) {
  const ConvProblem problem = problem_of(GetParam());
  const std::vector<KernelConfig> kernels = forms(problem, tma_layout::halo_phased);
  ASSERT_FALSE(kernels.empty());
  for (const KernelConfig& kernel : kernels) expect_exact(simulated_hopper(), problem, kernel);
}

INSTANTIATE_TEST_SUITE_P(Problems, Phases,
                         ::testing::Values("bwd_data bf16 n70 c24 k64 i19x20 f3x3 s2 p1",          // odd height
                                           "bwd_data fp16 n1 c72 k136 i33x17 f3x3 s2 p0:1x2:0",    // even padding, 3 boxes
                                           "bwd_data bf16 n2 c64 k32 i16x16 f3x3 s2 p1 +residual",  // half a box
                                           "bwd_data bf16 n2 c18 k36 i10x12 f3x3 s2 p1",           // copied rows
                                           "bwd_data bf16 n1 c96 k128 g2 i9x8 f3x3 s2 p2",         // groups
                                           "bwd_data bf16 n1 c8 k8 i2x1 f3x3 s2 p1"));             // less than a tile

TEST(PhasesChoice, AreOfStridesOfTwoAlone) {
  const auto count = [](const char* text) { return forms(problem_of(text), tma_layout::halo_phased).size(); };
  EXPECT_GT(count("bwd_data bf16 n1 c64 k64 i16x16 f3x3 s2 p1"), 0u);
  EXPECT_EQ(count("bwd_data bf16 n1 c64 k64 i16x16 f3x3 p1"), 0u);
  EXPECT_EQ(count("bwd_data bf16 n1 c64 k64 i16x16 f3x3 s2x1 p1"), 0u);
  EXPECT_EQ(count("bwd_data bf16 n1 c64 k64 i16x16 f5x5 s2 p2"), 0u);
}

}  // namespace
}  // namespace wt
