// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_halo_split_slow_test.cc - Hopper kernels that load patches and divide their sums, on the
// simulator: parts that begin and end inside a patch, empty ones, and tiles of several images.
#include <stdlib.h>

#include <tuple>
#include <utility>

#include "config/enum_names.h"
#include "dispatch/choice/candidates.h"
#include "kernels/kind.h"
#include "kernels/tma/cost.h"
#include "kernels/tma/device/layout.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// A kernel of patches with such a split and tile, warpgroups along k, and stages: few, so that the ring goes round.
KernelConfig kernel_for(const ConvProblem& problem, SplitK split, const Extent3& tile, int groups = 1, int stages = 4) {
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    const GemmConfig& offered = c.config.gemm;
    if (!c.accepts() || offered.pipeline != Pipeline::kTma || !tma_layout::is_halo(c.config) || offered.ping_pong ||
        offered.filter_rows != 0 || offered.groups_per_tile != 1 || tma_layout::copies_rows(c.config) ||
        (offered.split_k == SplitK::kNone) != (split == SplitK::kNone) ||
        (split == SplitK::kNone && offered.staging != Staging::kShared))
      continue;
    KernelConfig config = c.config;
    config.gemm.split_k = split;
    config.gemm.tile = tile;
    config.gemm.mma.n = tile.n;
    config.gemm.warps = {static_cast<short>(tile.m == 64 ? 4 : 8), 1, static_cast<short>(groups)};
    config.gemm.stages = static_cast<unsigned char>(stages);
    return config;
  }
  ADD_FAILURE() << "no kernel of split " << text_of(split) << " for " << to_text(problem);
  return {};
}

// The kernels that searches try take some problem each.
TEST(TmaHaloSplit, IsOffered) {
  const ConvProblem problem = problem_of("fwd bf16 n16 c256 k36 i7x7 f3x3 p1");
  int cluster = 0, workspace = 0, groups = 0;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    if (!c.accepts() || c.config.gemm.pipeline != Pipeline::kTma || !tma_layout::is_halo(c.config)) continue;
    cluster += c.config.gemm.split_k == SplitK::kCluster;
    workspace += c.config.gemm.split_k == SplitK::kWorkspace;
    groups += c.config.gemm.split_k == SplitK::kNone && c.config.gemm.warps.k == 2;
  }
  EXPECT_GE(cluster, 4);
  EXPECT_GE(workspace, 3);
  EXPECT_GE(groups, 3);
}

// Two patches, one of them part full: 18 taps, or 6 rows of taps, of which counts leave parts that begin inside a
// patch, and 7 and 8 of 6 leave some empty. Every step of the epilogue comes after.
TEST(TmaHaloSplit, EveryCountIsExact) {
  const ConvProblem problem = problem_of("fwd bf16 n1 c80 k44 i9x7 f3x3 p1 +alpha=2+scale+bias+residual+relu+amax");
  for (const int count : {2, 5, 8}) {
    for (const short k : {64, 192}) {
      const KernelConfig cluster = kernel_for(problem, SplitK::kCluster, {64, 40, k}, 2);
      ASSERT_EQ(tma_model::halo_splits(cluster, View(problem, usual_rates(Target::kSm90a)), count), count);
      expect_exact(simulated_hopper(), problem, cluster, count);
    }
  }
  for (const int count : {3, 13}) {
    expect_exact(simulated_hopper(), problem, kernel_for(problem, SplitK::kWorkspace, {64, 64, 192}), count);
    expect_exact(simulated_hopper(), problem, kernel_for(problem, SplitK::kWorkspace, {128, 64, 64}), count);
  }
}

// Images of up to 8 rows share a tile, the last of which is not full; wider ones lie in several tiles.
TEST(TmaHaloSplit, SmallImagesShareATile) {
  for (const auto& [text, tile] : {std::pair{"fwd bf16 n3 c64 k72 i7x7 f3x3 p1 +bias", Extent3{128, 64, 192}},
                                   std::pair{"bwd_data bf16 n5 c72 k136 i8x11 f3x3 p1 +relu", Extent3{256, 64, 64}},
                                   std::pair{"fwd fp16 n3 c64 k40 i2x5x6 f3x3x3 p1", Extent3{128, 128, 64}},
                                   std::pair{"bwd_data bf16 n2 c128 k64 i5x3 f3x3 +residual", Extent3{128, 64, 192}}}) {
    const ConvProblem problem = problem_of(text);
    for (const SplitK split : {SplitK::kCluster, SplitK::kWorkspace}) {
      if (split == SplitK::kCluster && tile.m == 256) continue;  // the exchange leaves no room
      const KernelConfig config = kernel_for(problem, split, tile);
      const Spatial out = problem.direction == Direction::kForward ? problem.out() : problem.in;
      EXPECT_EQ(tma_layout::halo_stacked(config, out[1], problem.n), tile.m / 64);
      expect_exact(simulated_hopper(), problem, config, 3);
    }
  }
}

// Groups, odd edges below each other, more tiles than clusters at once, filters of several planes.
TEST(TmaHaloSplit, GroupsEdgesAndSeveralTiles) {
  for (const auto& [text, tile, count] :
       {std::tuple{"fwd bf16 n2 g2 c128 k80 i13x13 f3x3 p1", Extent3{128, 40, 192}, 2},
        std::tuple{"bwd_data bf16 n1 g2 c128 k128 i17x9 f3x3 p1 +bias", Extent3{64, 64, 192}, 4},
        std::tuple{"fwd bf16 n1 c32 k64 i41x40 f3x3 p1 +bias", Extent3{64, 32, 192}, 8},
        std::tuple{"bwd_data fp16 n1 c40 k72 i3x9x9 f2x3x3 p1", Extent3{64, 40, 64}, 5}}) {
    const ConvProblem problem = problem_of(text);
    for (const SplitK split : {SplitK::kCluster, SplitK::kWorkspace})
      expect_exact(simulated_hopper(), problem, kernel_for(problem, split, tile, tile.m == 64 ? 2 : 1, 3), count);
  }
}

// Warpgroups that take taps in turns, without a split: several tiles a block, an odd number of stages, part of a box.
TEST(TmaHaloGroups, AreExact) {
  for (const auto& [text, tile] :
       {std::pair{"fwd bf16 n1 c16 k36 i81x70 f3x3 p1 +bias", Extent3{64, 32, 192}},
        std::pair{"fwd fp16 n2 c208 k44 i9x7 f3x3 p1 +alpha=2+scale+bias+residual+relu+amax", Extent3{64, 40, 192}},
        std::pair{"bwd_data bf16 n1 g2 c128 k128 i9x13 f3x3 p1 +residual", Extent3{64, 64, 192}},
        std::pair{"bwd_data bf16 n1 c136 k72 i2x9x7 f2x3x3 p1", Extent3{64, 128, 64}}}) {
    const ConvProblem problem = problem_of(text);
    for (const int stages : {3, 6})
      expect_exact(simulated_hopper(), problem, kernel_for(problem, SplitK::kNone, tile, 2, stages));
  }
}

// Random data, blocks and warps in three orders: the same bits.
TEST(TmaHaloSplit, DoesNotDependOnTheOrderOfBlocks) {
  const ConvProblem problem = problem_of("fwd bf16 n2 c136 k40 i7x7 f3x3 p1");
  // WHY: the simulator adds products in one go that complete together, at random unless told, and so rounds
  // differently.
  ::setenv("WAVETILE_SIM_COMPLETION", "early", 1);
  for (const SplitK split : {SplitK::kCluster, SplitK::kWorkspace}) {
    const KernelConfig config = kernel_for(problem, split, {64, 40, 192}, 2);
    const auto first = random_output(problem, config, "1", 5);
    for (const char* seed : {"2", "3"})
      EXPECT_TRUE(random_output(problem, config, seed, 5) == first) << name_of(config) << ", seed " << seed;
  }
  ::unsetenv("WAVETILE_SIM_COMPLETION");
}

}  // namespace
}  // namespace wt
