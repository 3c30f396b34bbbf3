// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_stream_slow_test.cc - Hopper's stream-K on the simulator: cuts of all three directions,
// every way out of the registers, and the numbers that blocks cut by.
#include <algorithm>
#include <array>
#include <set>

#include "base/integers.h"
#include "kernels/kind.h"
#include "kernels/tma/device/stream.h"
#include "launch/binding.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/spills.h"

namespace wt {
namespace {

constexpr const char* kEveryStep = " +alpha=2+scale+bias+residual+relu+amax";

// The accepting kernel with stream-K that comes first of those wanted.
template <class Wanted>
KernelConfig stream_kernel(const ConvProblem& problem, Wanted wanted) {
  return first_kernel(problem, [&](const KernelConfig& c) {
    return c.gemm.pipeline == Pipeline::kTma && c.gemm.stream_k != StreamK::kOff && wanted(c.gemm);
  });
}

// All of them.
std::vector<KernelConfig> stream_kernels(const ConvProblem& problem) {
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll))
    if (c.accepts() && c.config.gemm.pipeline == Pipeline::kTma && c.config.gemm.stream_k != StreamK::kOff)
      kernels.push_back(c.config);
  return kernels;
}

StreamShares cut_of(const ConvProblem& problem, const KernelConfig& config) {
  const int64_t rows = problem.n * problem.out()[0] * problem.out()[1] * problem.out()[2], box = config.gemm.tile.k;
  const int64_t tiles = ceil_div(rows, config.gemm.tile.m) * ceil_div(problem.k_per_group(), config.gemm.tile.n);
  const int64_t depth = problem.filter_taps() * ceil_div(problem.c_per_group(), box);
  return stream_shares(tiles * problem.g, depth, 132);
}

// Weight gradients: pieces of one tile, whole tiles between pieces, more k-blocks than blocks and fewer; amax of both
// launches.
TEST(TmaStream, WeightsAreExact) {
  for (const char* text :
       {"bwd_weight bf16 n5 c72 k136 i31x29 f1x1 +alpha=2", "bwd_weight bf16 n1 c256 k256 i9x7 f3x3 p1",
        "bwd_weight fp16 n3 g2 c144 k144 i17x15 f3x3 s2 p1 +residual+amax", "bwd_weight bf16 n0 c64 k64 i8x8 f1x1"}) {
    const ConvProblem problem = problem_of(text);
    for (const int n : {64, 128})
      expect_exact(simulated_hopper(), problem, stream_kernel(problem, [&](const GemmConfig& g) {
                     return g.stream_k == StreamK::kLinear && g.tile.n == n;
                   }));
  }
}

// One tile of 63 stages that 15 blocks share, every step of the epilogue after; a second one beside it that has 8
// columns. All kernels that there are.
TEST(TmaStream, EveryKernelIsExact) {
  const ConvProblem problem = problem_of(std::string("fwd bf16 n2 c448 k136 i7x9 f3x3 p1") + kEveryStep);
  const std::vector<KernelConfig> kernels = stream_kernels(problem);
  EXPECT_GE(kernels.size(), 14u);
  for (const KernelConfig& config : kernels) {
    EXPECT_TRUE(cut_of(problem, config).divides()) << name_of(config);
    EXPECT_EQ(bind(config, problem, simulated_hopper()->info()).launches.size(), 2u) << name_of(config);
    expect_exact(simulated_hopper(), problem, config);
  }
}

#if WT_HAVE_NVRTC
TEST(TmaStream, NoneSpills) {
  const std::vector<KernelConfig> kernels =
      stream_kernels(problem_of("bwd_data bf16 n2 c136 k448 i7x9 f3x3 p1 +residual"));
  expect_no_spills(kernels);
}
#endif  // WT_HAVE_NVRTC

// One, two and three dimensions, strides, dilation, groups, tails of rows, columns and channels, other types.
TEST(TmaStream, ProblemsAreExact) {
  for (const char* text :
       {"fwd bf16 n3 c72 k40 i67 f5 p2 +bias", "fwd bf16 n1 c64 k43 i3x5x6 f3x3x3 p1 +relu",
        "fwd fp16 n1 g2 c256 k80 i6x5 f3x3 p1 +residual+amax", "fwd bf16 n2 c200 k72 i15x13 f3x3 s2 p1",
        "fwd bf16 n1 c136 k72 i13x11 f3x3 p2 d2", "bwd_data bf16 n2 c200 k136 i9x10 f3x3 p1 +bias+residual",
        "bwd_data fp16 n1 c72 k200 i61 f3 p1", "bwd_data bf16 n1 c40 k64 i3x5x6 f3x3x3 p1",
        "bwd_data bf16 n1 g2 c128 k256 i9x7 f3x3 p1", "bwd_data tf32 n1 c36 k68 i9x7 f3x3 p1 +alpha=2",
        "fwd tf32 n1 c100 k36 i5x6 f3x3 p1 +residual", "fwd fp32 n1 c68 k36 i5x6 f3x3 p1 +scale+bias",
        "fwd e4m3*e4m3>bf16 n1 c272 k40 i5x6 f3x3 p1", "fwd bf16>fp32 n1 c320 k33 i8x9 f3x3 p1 +amax"}) {
    const ConvProblem problem = problem_of(text);
    expect_exact(simulated_hopper(), problem, stream_kernel(problem, [](const GemmConfig&) { return true; }));
  }
}

// More tiles than blocks: a round of whole ones and then pieces; consumers in turns.
TEST(TmaStream, SeveralTilesABlock) {
  const ConvProblem problem = problem_of(std::string("fwd bf16 n1 c264 k136 i95x97 f1x1") + kEveryStep);
  for (const Staging staging : {Staging::kTmaStore, Staging::kDirect}) {
    for (const bool in_turns : {false, true}) {
      const KernelConfig config = stream_kernel(problem, [&](const GemmConfig& g) {
        return g.tile == Extent3{128, 128, 64} && g.staging == staging && g.ping_pong == in_turns;
      });
      const StreamShares cut = cut_of(problem, config);
      ASSERT_EQ(cut.rounds, 1u);
      ASSERT_TRUE(cut.divides());
      expect_exact(simulated_hopper(), problem, config);
    }
  }
}

// Rounds that leave nothing over: no pieces, no second launch and no workspace.
TEST(TmaStream, WholeRoundsAreWhole) {
  const ConvProblem problem = problem_of("fwd bf16 n1 c64 k128 i66x128 f1x1 +bias");
  const KernelConfig config = stream_kernel(problem, [](const GemmConfig& g) {
    return g.tile == Extent3{64, 128, 64};
  });
  ASSERT_EQ(cut_of(problem, config).rounds, 1u);
  const Binding binding = bind(config, problem, simulated_hopper()->info());
  EXPECT_EQ(binding.launches.size(), 1u);
  EXPECT_EQ(binding.workspace_bytes, 0);
  expect_exact(simulated_hopper(), problem, config);
}

// No images: nothing is launched.
TEST(TmaStream, EmptyBatch) {
  const ConvProblem problem = problem_of("fwd bf16 n0 c64 k64 i8x8 f1x1");
  const KernelConfig config = stream_kernel(problem, [](const GemmConfig&) { return true; });
  EXPECT_TRUE(bind(config, problem, simulated_hopper()->info()).launches.empty());
}

// Strided backward data has phases of different depths.
TEST(TmaStream, DeclinesPhases) {
  const ConvProblem problem = problem_of("bwd_data bf16 n1 c64 k64 i16x16 f3x3 s2 p1");
  int declined = 0;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    if (c.config.gemm.pipeline != Pipeline::kTma || c.config.gemm.stream_k == StreamK::kOff) continue;
    EXPECT_FALSE(c.accepts()) << c.name;
    ++declined;
  }
  EXPECT_GT(declined, 0);
}

// Every unit has the owner whose range holds it, no two pieces share a slot, and pieces have at least four stages where
// tiles have.
TEST(TmaStream, RangesPartitionTheWork) {
  for (const auto& [tiles, depth, most] : {std::array<i64, 3>{7, 13, 5},
                                           {1, 9, 9},
                                           {132, 4, 131},
                                           {3, 100, 132},
                                           {133, 2, 132},
                                           {140, 1, 132},
                                           {1, 1, 132},
                                           {265, 36, 132},
                                           {131, 7, 132},
                                           {264, 5, 132}}) {
    const StreamShares cut = stream_shares(tiles, depth, most);
    SCOPED_TRACE(testing::Message() << tiles << " tiles, " << depth << " deep, " << most << " blocks");
    ASSERT_EQ(cut.whole() + cut.tiles, tiles);
    ASSERT_LE(cut.blocks, most);
    std::set<u32> slots;
    bool divides = false;
    for (u32 block = 0; block < cut.blocks; ++block) {
      EXPECT_GT(cut.rounds + cut.first(block + 1) - cut.first(block), 0u) << block;
      std::set<u32> touched;
      for (u32 unit = cut.first(block); unit < cut.first(block + 1); ++unit) {
        ASSERT_EQ(cut.owner(unit), block) << unit;
        touched.insert(unit / cut.depth);
      }
      for (const u32 tile : touched) {
        const bool whole = cut.owner(tile * cut.depth) == cut.owner((tile + 1) * cut.depth - 1);
        divides |= !whole;
        EXPECT_TRUE(whole || slots.insert(cut.slot(block, tile)).second) << block << " " << tile;
      }
    }
    EXPECT_EQ(cut.first(cut.blocks), cut.units());
    EXPECT_EQ(cut.divides(), divides);
    EXPECT_TRUE(cut.tiles == 0 || cut.share >= std::min<i64>(4, depth)) << cut.share;
  }
}

// Where tiles are a little more than a round of blocks, pieces of the rest are predicted to take less than a second
// round.
TEST(TmaStream, PredictionKnowsTheRest) {
  const auto us = [](const char* text) {
    const ConvProblem problem = problem_of(text);
    const auto best = [&](bool stream) {
      for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
        const GemmConfig& g = c.config.gemm;
        if (c.accepts() && g.pipeline == Pipeline::kTma && (g.stream_k != StreamK::kOff) == stream &&
            g.tile == Extent3{128, 128, 64} && g.staging == Staging::kTmaStore && !g.ping_pong &&
            g.cluster_m * g.cluster_n == 1 && g.warps.m > 1 && g.loader_a == Loader::kTmaIm2col)
          return predicted_us(c.config, problem, usual_rates(Target::kSm90a));
      }
      ADD_FAILURE() << text;
      return 0.0;
    };
    return std::pair{best(true), best(false)};
  };
  const auto [little_stream, little] = us("fwd bf16 n16 c512 k256 i33x33 f3x3 p1");  // 274 tiles: two rounds and ten
  EXPECT_LT(little_stream, little);
  const auto [full_stream, full] = us("fwd bf16 n16 c512 k256 i32x32 f3x3 p1");  // 256: nearly two
  EXPECT_GT(full_stream, full);
}

}  // namespace
}  // namespace wt
