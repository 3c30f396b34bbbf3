// SPDX-License-Identifier: Apache-2.0
#include "problem/gemm_view.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "problem/random_problem.h"

namespace wt {
namespace {

TEST(GemmView, TableOfTheDirections) {
  const ConvProblem p = *parse_problem("fwd bf16 n2 c12 k18 g6 i10x11 f3x2 s2x1 p1x0");
  EXPECT_EQ(gemm_view(p), (GemmView{6, 2 * 5 * 10, 3, 6 * 2}));
  EXPECT_EQ(gemm_view(with_direction(p, Direction::kBackwardData)), (GemmView{6, 2 * 110, 2, 6 * 3}));
  EXPECT_EQ(gemm_view(with_direction(p, Direction::kBackwardWeight)), (GemmView{6, 3, 6 * 2, 2 * 5 * 10}));
}

TEST(GemmView, WithoutStrideThereIsOnePhase) {
  const ConvProblem p = *parse_problem("bwd_data bf16 n2 c8 k16 i10x11 f3x2 p1x0 d2x1");
  const std::vector<StridePhase> phases = stride_phases(p);
  ASSERT_EQ(phases.size(), 1u);
  EXPECT_EQ(phases[0].gemm, gemm_view(p));
  EXPECT_TRUE(phases[0].has_taps());
}

TEST(GemmView, StrideTwoAsOnPaper) {
  // h + 1 - r is even: even pixels meet tap 1, odd ones taps 0 and 2.
  const ConvProblem p = *parse_problem("bwd_data bf16 c8 k16 i7 f3 s2 p1");
  const std::vector<DimPhase> phases = dim_phases(p, 2);
  ASSERT_EQ(phases.size(), 2u);
  EXPECT_EQ(phases[0], (DimPhase{.offset = 0,
                                 .step = 2,
                                 .count = 4,
                                 .tap_first = 1,
                                 .tap_step = 2,
                                 .tap_count = 1,
                                 .shift_first = 0,
                                 .shift_step = -1}));
  EXPECT_EQ(phases[1], (DimPhase{.offset = 1,
                                 .step = 2,
                                 .count = 3,
                                 .tap_first = 0,
                                 .tap_step = 2,
                                 .tap_count = 2,
                                 .shift_first = 1,
                                 .shift_step = -1}));
}

TEST(GemmView, PhasesWithoutTapsAreListed) {
  // A 1x1 filter with stride 2 reaches a quarter of the pixels; stride 2 with dilation 2 reaches one residue in two.
  int64_t without = 0, pixels = 0;
  for (const StridePhase& phase : stride_phases(*parse_problem("bwd_data bf16 c8 k16 i8x8 f1x1 s2"))) {
    without += !phase.has_taps();
    pixels += phase.gemm.m;
  }
  EXPECT_EQ(without, 3);
  EXPECT_EQ(pixels, 64);
  const std::vector<DimPhase> even = dim_phases(*parse_problem("bwd_data bf16 c8 k16 i9 f3 s2 d2"), 2);
  ASSERT_EQ(even.size(), 2u);
  EXPECT_EQ(even[0].tap_count, 3);
  EXPECT_EQ(even[1].tap_count, 0);
}

// Brute force: for every pixel and tap, whether they meet and at which output pixel.
TEST(GemmView, PhasesPartitionPixelsAndTaps) {
  Random random(99);
  RandomLimits limits;
  limits.directions = {Direction::kBackwardData};
  limits.max_stride = 7;
  limits.max_dilation = 7;
  limits.max_filter = 8;
  limits.max_in = 30;
  limits.max_channels = 4;
  limits.max_multiply_adds = 4'000'000;
  for (int round = 0; round < 1500; ++round) {
    const ConvProblem p = random_problem(random, limits);
    for (int dim = 0; dim < kMaxDims; ++dim) {
      std::map<std::pair<int64_t, int64_t>, int64_t> expected, actual;  // (pixel, tap) -> output position
      for (int64_t h = 0; h < p.in[dim]; ++h) {
        for (int64_t r = 0; r < p.filter[dim]; ++r) {
          for (int64_t o = -200; o <= 200; ++o) {
            if (o * p.stride[dim] == h + p.pad_lower[dim] - r * p.dilation[dim]) expected[{h, r}] = o;
          }
        }
      }
      std::map<int64_t, int> pixels;
      for (const DimPhase& phase : dim_phases(p, dim)) {
        ASSERT_GT(phase.count, 0);
        for (int64_t i = 0; i < phase.count; ++i) {
          const int64_t h = phase.offset + i * phase.step;
          ++pixels[h];
          for (int64_t j = 0; j < phase.tap_count; ++j) {
            const int64_t r = phase.tap_first + j * phase.tap_step;
            ASSERT_TRUE(actual.emplace(std::pair(h, r), i + phase.shift_first + j * phase.shift_step).second);
          }
        }
      }
      ASSERT_EQ(actual, expected) << to_text(p) << " dim " << dim;
      ASSERT_EQ(static_cast<int64_t>(pixels.size()), p.in[dim]);
      for (const auto& [h, times] : pixels) ASSERT_TRUE(times == 1 && h >= 0 && h < p.in[dim]);
    }
  }
}

TEST(GemmView, PhasesOfTheWholeCoverTheOutput) {
  Random random(4);
  RandomLimits limits;
  limits.directions = {Direction::kBackwardData};
  for (int round = 0; round < 500; ++round) {
    const ConvProblem p = random_problem(random, limits);
    const GemmView whole = gemm_view(p);
    int64_t rows = 0;
    for (const StridePhase& phase : stride_phases(p)) {
      rows += phase.gemm.m;
      EXPECT_EQ(phase.gemm.n, whole.n);
      EXPECT_EQ(phase.gemm.batch, whole.batch);
      EXPECT_EQ(phase.gemm.k,
                p.k_per_group() * phase.dim[0].tap_count * phase.dim[1].tap_count * phase.dim[2].tap_count);
    }
    EXPECT_EQ(rows, whole.m) << to_text(p);
  }
}

TEST(GemmView, LargeStridesAndDilationsDoNotOverflow) {
  const ConvProblem p =
      *parse_problem("bwd_data bf16 c1 k1 i10 f2 s4611686018427387905 d4611686018427387904 p4611686018427387904:0");
  const std::vector<DimPhase> phases = dim_phases(p, 2);
  ASSERT_EQ(phases.size(), 10u);
  for (const DimPhase& phase : phases) EXPECT_EQ(phase.tap_count, phase.offset <= 1 ? 1 : 0) << phase.offset;
}

}  // namespace
}  // namespace wt
