// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_split_slow_test.cc - Hopper kernels whose blocks work together, on the simulator: sums
// divided over a cluster or through the workspace at every count, and blocks that share the tiles of an operand.
#include <stdlib.h>

#include "kernels/kind.h"
#include "kernels/shared/split.h"
#include "kernels/tma/cost.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// The accepting kernel of pipeline tma that comes first of those wanted.
template <class Wanted>
KernelConfig kernel_for(const ConvProblem& problem, Wanted wanted) {
  return first_kernel(problem,
                      [&](const KernelConfig& c) { return c.gemm.pipeline == Pipeline::kTma && wanted(c.gemm); });
}

KernelConfig split_kernel(const ConvProblem& problem, SplitK split, int m, int n) {
  return kernel_for(problem, [&](const GemmConfig& g) { return g.split_k == split && g.tile.m == m && g.tile.n == n; });
}

// Seven stages: no count from 2 to 6 divides them, and 8 leaves a part empty. Every step of the epilogue comes after.
TEST(TmaSplit, EveryCountIsExact) {
  const ConvProblem problem = problem_of("fwd bf16 n2 c448 k72 i7x9 f1x1 +alpha=2+scale+bias+residual+relu+amax");
  const KernelConfig cluster = split_kernel(problem, SplitK::kCluster, 64, 40);
  for (int count = 2; count <= 8; ++count) {
    ASSERT_EQ(tma_model::planned_splits(cluster, View(problem, usual_rates(Target::kSm90a)), count), count);
    expect_exact(simulated_hopper(), problem, cluster, count);
  }
  const KernelConfig workspace = split_kernel(problem, SplitK::kWorkspace, 128, 64);
  for (const int count : {2, 3, 4, 5, 6, 7, 8, 13}) {
    expect_exact(simulated_hopper(), problem, workspace, count);
  }
}

// More tiles than clusters at once: blocks use their exchange buffers again and again.
TEST(TmaSplit, ClustersTakeSeveralTiles) {
  const ConvProblem problem = problem_of("fwd bf16 n1 c192 k96 i65x40 f1x1 +bias");
  for (const int count : {3, 8}) {
    expect_exact(simulated_hopper(), problem, split_kernel(problem, SplitK::kCluster, 64, 32), count);
  }
  expect_exact(simulated_hopper(), problem, split_kernel(problem, SplitK::kWorkspace, 64, 64), 4);
}

// Phases with one, two, four and no taps; odd edges; groups; other types.
TEST(TmaSplit, PhasesGroupsAndTypes) {
  for (const char* text : {"bwd_data bf16 n1 c72 k136 i15x13 f3x3 s2 p1", "bwd_data bf16 n2 c64 k64 i8x8 f1x1 s2 +bias",
                           "bwd_data tf32 n1 c36 k68 i9x7 f3x3 s2 p1", "fwd fp16 n1 g2 c128 k80 i6x5 f3x3 p1",
                           "fwd tf32 n1 c100 k36 i5x6 f3x3 p1 +residual", "fwd e4m3*e4m3>bf16 n1 c144 k40 i5x6 f3x3 p1",
                           "fwd bf16 n1 c64 k43 i3x5x6 f3x3x3 p1"}) {
    const ConvProblem problem = problem_of(text);
    for (const SplitK split : {SplitK::kCluster, SplitK::kWorkspace})
      expect_exact(simulated_hopper(), problem,
                   kernel_for(problem, [&](const GemmConfig& g) { return g.split_k == split; }), 3);
  }
}

// Blocks that share an operand and have a part of the sum each; tiles past the last row and the last column.
TEST(TmaSplit, PartsShareOperands) {
  for (const char* text :
       {"bwd_data bf16 n2 c200 k200 i9x10 f3x3 p1", "bwd_data bf16 n1 c72 k72 i9x10 f3x3 s2 p1 +bias",
        "fwd bf16 n3 c136 k40 i9x10 f3x3 p1 +relu"}) {
    const ConvProblem problem = problem_of(text);
    for (const int clusters : {1, 2})
      expect_exact(simulated_hopper(), problem,
                   kernel_for(problem,
                              [&](const GemmConfig& g) {
                                return g.split_k == SplitK::kWorkspace && g.cluster_m == clusters &&
                                       g.cluster_n == 3 - clusters;
                              }),
                   4);
  }
}

// Random data, blocks and warps in three orders: the same bits, however a sum is divided.
TEST(TmaSplit, DoesNotDependOnTheOrderOfBlocks) {
  const ConvProblem forward = problem_of("fwd bf16>fp32 n1 c200 k40 i7x9 f3x3 p1");
  const ConvProblem gradient = problem_of("bwd_weight bf16>fp32 n2 c64 k64 i13x12 f3x3 p1");
  // WHY: the simulator adds products in one go that complete together, at random unless told, and so rounds
  // differently.
  ::setenv("WAVETILE_SIM_COMPLETION", "early", 1);
  for (const auto& [problem, config] :
       {std::pair{forward, split_kernel(forward, SplitK::kCluster, 64, 40)},
        std::pair{forward, split_kernel(forward, SplitK::kWorkspace, 64, 40)},
        std::pair{forward, kernel_for(forward, [](const GemmConfig& g) { return g.stream_k == StreamK::kLinear; })},
        std::pair{gradient,
                  kernel_for(gradient, [](const GemmConfig& g) { return g.stream_k == StreamK::kLinear; })}}) {
    const auto first = random_output(problem, config, "1", 5);
    for (const char* seed : {"2", "3"})
      EXPECT_TRUE(random_output(problem, config, seed, 5) == first) << name_of(config) << ", seed " << seed;
  }
  ::unsetenv("WAVETILE_SIM_COMPLETION");
}

// Tiles that two blocks share, odd numbers of them, consumers together and in turns.
TEST(TmaSharing, IsExact) {
  for (const char* text :
       {"fwd bf16 n3 c136 k136 i13x11 f3x3 p1 +bias+relu", "bwd_data bf16 n3 c200 k72 i13x11 f3x3 p1",
        "fwd bf16 n1 g2 c128 k256 i9x15 f3x3 p1", "fwd fp16 n1 c72 k392 i20x20 f1x1"}) {
    const ConvProblem problem = problem_of(text);
    for (const bool share_a : {false, true}) {
      for (const bool in_turns : {false, true}) {
        expect_exact(simulated_hopper(), problem, kernel_for(problem, [&](const GemmConfig& g) {
                       return (share_a ? g.multicast_a : g.multicast_b) && g.ping_pong == in_turns;
                     }));
      }
    }
  }
}

// More pairs of tiles than pairs of blocks: rings go on from tile to tile.
TEST(TmaSharing, PairsTakeSeveralTiles) {
  const ConvProblem problem = problem_of("fwd bf16 n1 c128 k264 i101x100 f1x1");
  for (const bool in_turns : {false, true}) {
    expect_exact(simulated_hopper(), problem, kernel_for(problem, [&](const GemmConfig& g) {
                   return g.multicast_b && g.ping_pong == in_turns && g.tile.n == 128 && g.tile.m == 128;
                 }));
  }
}

}  // namespace
}  // namespace wt
