// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_fold_slow_test.cc - Hopper kernels whose columns are the taps of a filter row, on the
// simulator: sums across warps, consumers, tiles and the ends of image rows.
#include <tuple>

#include "kernels/tma/device/layout.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// Rows and columns of a tile, and whether consumers take tiles in turns.
using Tile = std::tuple<short, short, bool>;

KernelConfig folding(const ConvProblem& problem, const Tile& tile, int stages = 3) {
  const auto [m, n, turns] = tile;
  KernelConfig config = first_kernel(problem, [&, turns = turns](const KernelConfig& offered) {
    return tma_layout::folds_taps(offered) && offered.gemm.ping_pong == turns;
  });
  config.gemm.tile.m = m;
  config.gemm.tile.n = n;
  config.gemm.mma.n = n;
  config.gemm.warps.m = static_cast<short>(turns || m == 64 ? 4 : m == 192 ? 12 : 8);
  config.gemm.stages = static_cast<unsigned char>(stages);
  return config;
}

class TmaFold : public ::testing::TestWithParam<std::tuple<const char*, Tile>> {};

TEST_P(TmaFold, IsExact) {
  const auto [text, tile] = GetParam();
  const ConvProblem problem = problem_of(text);
  expect_exact(simulated_hopper(), problem, folding(problem, tile));
}

INSTANTIATE_TEST_SUITE_P(
    Problems, TmaFold,
    ::testing::Combine(::testing::Values("fwd bf16 n2 c64 k36 i13x13 f3x3 p1",             // rows that warps divide
                                         "fwd fp16 n1 c72 k40 i5x140 f3x3 p0:1x1:0",       // wide, uneven padding
                                         "fwd bf16 n3 c16 k12 i9x2 f2x3 s2x1 d2x1 p3x2"),  // below a stride
                       ::testing::Values(Tile{64, 40, false}, Tile{128, 40, true}, Tile{256, 40, false},
                                         Tile{192, 24, false})));

// Every step of the epilogue, more tiles than blocks, columns of several tiles, and channels stored by pairs.
TEST(TmaFoldForms, AreExact) {
  const struct {
    const char* problem;
    Tile tile;
  } forms[] = {
      {"fwd bf16 n1 c64 k44 i11x17 f3x3 p1 +alpha=2+scale+bias+residual+relu+amax", {128, 16, true}},
      {"fwd bf16 n1 c64 k44 i11x17 f3x3 p1 +bias+clamp=-4:9", {64, 24, false}},
      {"fwd bf16 n140 c8 k18 i8x6 f5x5 p2", {64, 24, true}},
      {"fwd bf16 n1 c64 k35 i9x21 f3x3 p1 +bias", {64, 40, true}},
      {"fwd fp16 n1 c192 k20 i20x9 f7x7 p3", {128, 24, false}},
      {"fwd bf16 n4 c128 k24 g2 i6x9 f3x3 p1", {64, 16, false}},
      {"fwd bf16 n2 c64 k36 i70 f3 p1", {64, 40, true}},
      {"fwd bf16 n1 c64 k36 i4x5x6 f3x3x3 p1", {128, 40, false}},
      {"fwd bf16 n2 c64 k36 i1x1 f3x3 p1", {64, 40, false}},
  };
  for (const auto& form : forms) {
    const ConvProblem problem = problem_of(form.problem);
    expect_exact(simulated_hopper(), problem, folding(problem, form.tile));
  }
}

TEST(TmaFoldForms, ServeUnitStepsAlongRows) {
  for (const char* text : {"fwd bf16 n1 c64 k36 i13x13 f3x3 s2 p1", "fwd bf16 n1 c64 k36 i13x13 f3x3 p2 d2",
                           "fwd bf16 n1 c64 k36 i13x13 f3x4 p1", "bwd_data bf16 n1 c64 k64 i13x13 f3x3 p1"}) {
    for (const RankedCandidate& c : rank_candidates(problem_of(text), Target::kSm90a, {}, Breadth::kAll))
      EXPECT_FALSE(c.accepts() && tma_layout::folds_taps(c.config)) << text << " by " << c.name;
  }
}

}  // namespace
}  // namespace wt
