// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/depthwise_taps_slow_test.cc - depthwise weight gradients whose sums are the taps, exact on
// small integers on the simulator: every stride, dilation, padding, dimension and block.
#include <gmock/gmock.h>

#include <set>

#include "kernels/depthwise_taps/device/shape.h"
#include "kernels/depthwise_taps/view.h"
#include "rules/rules.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/spills.h"

namespace wt {
namespace {

std::vector<KernelConfig> taps_kernels(const ConvProblem& problem) {
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    if (c.accepts() && c.config.kind == Kind::kDepthwiseTaps) kernels.push_back(c.config);
  }
  return kernels;
}

class DepthwiseTapsExact : public testing::TestWithParam<const char*> {};

// With and without shared pixels: the first kernel of each whose runs have 16 taps.
TEST_P(DepthwiseTapsExact, WithAndWithoutSharedPixels) {
  const auto device = simulated_hopper();
  const ConvProblem problem = problem_of(GetParam());
  std::set<bool> seen;
  for (const KernelConfig& config : taps_kernels(problem)) {
    const DirectConfig& direct = config.direct;
    if (direct.block_channels != 16 || direct.block_size != 256 || direct.sub_h != 2 || direct.sub_w != 2) continue;
    if (seen.insert(depthwise_taps::shares_pixels(config)).second) expect_exact(device, problem, config);
  }
  const bool unit = problem.stride[2] == 1 && (problem.dilation[2] == 1 || problem.filter[2] == 1);
  EXPECT_EQ(seen.size(), unit ? 2u : 1u) << to_text(problem);
}

INSTANTIATE_TEST_SUITE_P(
    Problems, DepthwiseTapsExact,
    testing::Values("bwd_weight bf16 n2 c16 k16 g16 i9x19 f3x3 p1", "bwd_weight bf16 n1 c24 k24 g24 i13x11 f9x9 p4",
                    "bwd_weight bf16 n3 c8 k8 g8 i7x7 f13x13 p6", "bwd_weight bf16 n1 c16 k16 g16 i12x13 f27x27 p13",
                    "bwd_weight bf16 n1 c8 k8 g8 i6x40 f4x4 p2:1x1:2", "bwd_weight bf16 n1 c16 k16 g16 i16x17 f3x3 d7 p7",
                    "bwd_weight bf16 n1 c8 k8 g8 i20x21 f7x7 d3 p9", "bwd_weight bf16 n2 c40 k40 g40 i13x14 f3x3 s2 p1",
                    "bwd_weight bf16 n1 c8 k8 g8 i16x35 f3x7 s2x3 d3x2 p2x4",
                    "bwd_weight bf16 n1 c8 k8 g8 i9x9 f2x2 s5x6", "bwd_weight bf16 n1 c8 k8 g8 i33x40 f1x1 s9x7 p3",
                    "bwd_weight bf16 n1 c8 k8 g8 i5x70 f1x40 d2 p0x39", "bwd_weight bf16 n1 c8 k8 g8 i3x4 f9x9 p8",
                    "bwd_weight bf16 n2 c8 k8 g8 i300 f31 p15", "bwd_weight bf16 n2 c8 k8 g8 i5x6x9 f3x3x3 p1",
                    "bwd_weight bf16 n1 c8 k8 g8 i6x7x10 f3x2x4 s2x1x2 d1x2x1 p1x2x1",
                    "bwd_weight bf16 n1 c8 k8 g8 i9x4x5 f5x1x1 p2x0x0"));

// Channels that are no whole vectors, another type, and a gradient of 32 bits.
TEST(DepthwiseTapsExact, NarrowVectorsAndOtherTypes) {
  const auto device = simulated_hopper();
  for (const char* text : {"bwd_weight bf16 n1 c12 k12 g12 i9x12 f5x4 s2x1 p2x1",
                           "bwd_weight fp16 n1 c54 k54 g54 i3x6x9 f3x3x3 p1", "bwd_weight bf16*bf16>fp32 n2 c8 k8 g8 i8x9 f3x3 p1"}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = taps_kernels(problem);
    ASSERT_FALSE(kernels.empty()) << text;
    expect_exact(device, problem, kernels.front());
  }
}

// Runs of 8 and 16 taps, one and two matrices of a warp, blocks of more and of fewer channels and warps.
TEST(DepthwiseTapsExact, EveryVariant) {
  const auto device = simulated_hopper();
  const ConvProblem problem = problem_of("bwd_weight bf16 n3 c40 k40 g40 i14x29 f5x5 p2");
  const auto kernels = taps_kernels(problem);
  EXPECT_GE(kernels.size(), 20u);
  for (const KernelConfig& config : kernels) expect_exact(device, problem, config);
}

// Random data, blocks and warps in three orders: the same bits.
TEST(DepthwiseTapsExact, DoesNotDependOnTheOrderOfBlocks) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n5 c24 k24 g24 i13x29 f4x3 p1");
  const auto kernels = taps_kernels(problem);
  ASSERT_FALSE(kernels.empty());
  const auto first = random_output(problem, kernels.front(), "1");
  EXPECT_FALSE(first.empty());
  for (const char* seed : {"2", "3"}) EXPECT_TRUE(random_output(problem, kernels.front(), seed) == first);
}

TEST(DepthwiseTapsExact, StrictPlansHaveNone) {
  expect_finite_only(problem_of("bwd_weight bf16 n2 c16 k16 g16 i28x28 f9x9 p4"),
                     [](const KernelConfig& c) { return c.kind == Kind::kDepthwiseTaps; });
}

#if WT_HAVE_NVRTC
TEST(DepthwiseTapsSpills, None) {
  std::vector<KernelConfig> sample = taps_kernels(problem_of("bwd_weight bf16 n16 c256 k256 g256 i28x28 f13x13 p6"));
  EXPECT_GE(sample.size(), 8u);
  expect_no_spills(sample);
}
#endif  // WT_HAVE_NVRTC

}  // namespace
}  // namespace wt
