// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_weight_slow_test.cc - Hopper's weight gradients on the simulator: parts in the order of
// registers, as many as there may be, and whole gradients whose operands two blocks share.
#include <stdlib.h>

#include "kernels/device/gemm/part_sum_layout.h"
#include "kernels/tma_weight/device/part.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

template <class Wanted>
KernelConfig kernel_for(const ConvProblem& problem, Wanted wanted) {
  return first_kernel(problem, [&](const KernelConfig& c) { return c.gemm.pipeline == Pipeline::kTma && wanted(c); });
}

struct Parts {
  const char* problem;
  short m, n;
  std::initializer_list<int> counts;
};

// One part, one batch of them, several threads a sum; rows, channels and taps that end in a tile; groups; types.
TEST(TmaWeightParts, EveryCountIsExact) {
  for (const Parts& at : {Parts{"bwd_weight bf16 n5 c72 k136 i9x11 f3x3 p1 +residual", 64, 64, {1, 2, 3, 9}},
                          Parts{"bwd_weight bf16 n9 c40 k24 i16x16 f1x1 +alpha=2+amax", 64, 64, {20, 36}},
                          Parts{"bwd_weight fp16 n2 g2 c144 k528 i9x8 f1x1", 256, 64, {3}},
                          Parts{"bwd_weight bf16>fp32 n2 c67 k35 i7x6 f1x2", 128, 128, {2}},
                          Parts{"bwd_weight tf32 n2 c36 k68 i5x6x4 f3x1x2 p1x0x1", 64, 64, {5}}}) {
    const ConvProblem problem = problem_of(at.problem);
    const KernelConfig config = kernel_for(problem, [&](const KernelConfig& c) {
      return weight_part::serves(c) && c.gemm.tile.m == at.m && c.gemm.tile.n == at.n &&
             c.gemm.loader_b == Loader::kTmaIm2col && c.gemm.cluster_m * c.gemm.cluster_n == 1;
    });
    for (const int count : at.counts) {
      expect_exact(simulated_hopper(), problem, config, count);
    }
  }
}

// Unit filters, x by plain boxes: pixels and channels that end in a tile, in parts and whole.
TEST(TmaWeightUnit, IsExact) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n5 c136 k200 i9x11 f1x1 +residual");
  for (const Staging staging : {Staging::kDirect, Staging::kTmaStore}) {
    const ConvProblem asked =
        staging == Staging::kDirect ? problem : problem_of("bwd_weight bf16 n5 c136 k200 i9x11 f1x1");
    expect_exact(simulated_hopper(), asked,
                 kernel_for(asked,
                            [&](const KernelConfig& c) {
                              return c.gemm.loader_b == Loader::kTmaTiled && c.gemm.staging == staging &&
                                     c.gemm.tile.m == 64 && c.gemm.cluster_m * c.gemm.cluster_n == 1;
                            }),
                 3);
  }
}

// Random data, blocks and warps in three orders: the same bits.
TEST(TmaWeightParts, DoNotDependOnTheOrderOfBlocks) {
  const ConvProblem problem = problem_of("bwd_weight bf16>fp32 n3 c64 k64 i13x12 f1x1");
  const KernelConfig config = kernel_for(problem, [](const KernelConfig& c) { return weight_part::serves(c); });
  ::setenv("WAVETILE_SIM_COMPLETION", "early", 1);  // WHY: see tma_split_slow_test.cc
  const auto first = random_output(problem, config, "1", 9);
  for (const char* seed : {"2", "3"}) EXPECT_TRUE(random_output(problem, config, seed, 9) == first) << "seed " << seed;
  ::unsetenv("WAVETILE_SIM_COMPLETION");
}

// Threads that share a sum's parts are a power of two, and none of them is without a part.
TEST(TmaWeightParts, ThreadsShareThemEvenly) {
  for (const long long vectors : {1024, 32768, 1 << 20}) {
    for (int parts = 1; parts <= 128; ++parts) {
      const int slices = part_sum::slices(vectors, parts, 132);
      EXPECT_TRUE(slices == 1 || (slices % 2 == 0 && part_sum::kThreads % slices == 0));
      EXPECT_LE(slices, parts);
    }
  }
}

// Odd numbers of tiles, of which the last pair has one that does not exist; stores in bulk.
TEST(TmaWeightSharing, WholeGradientsAreExact) {
  for (const char* text : {"bwd_weight bf16 n3 c136 k192 i9x9 f3x3 p1", "bwd_weight fp16 n5 c264 k136 i7x7 f1x1"}) {
    const ConvProblem problem = problem_of(text);
    for (const bool share_a : {false, true}) {
      expect_exact(simulated_hopper(), problem, kernel_for(problem, [&](const KernelConfig& c) {
                     return (share_a ? c.gemm.multicast_a : c.gemm.multicast_b) &&
                            c.gemm.staging == Staging::kTmaStore && c.gemm.tile.m == (share_a ? 128 : 64);
                   }));
    }
  }
}

}  // namespace
}  // namespace wt
