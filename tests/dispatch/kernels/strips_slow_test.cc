// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/strips_slow_test.cc - depthwise by strips on the simulator, exact on small integers: every
// direction, stride, dilation, padding, multiplier and dimension.
#include <gmock/gmock.h>

#include <set>

#include "kernels/depthwise_strips/device/shape.h"
#include "kernels/depthwise_strips/view.h"
#include "rules/rules.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/spills.h"

namespace wt {
namespace {

std::vector<KernelConfig> strips_kernels(const ConvProblem& problem) {
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    if (c.accepts() && c.config.kind == Kind::kDepthwiseStrips) kernels.push_back(c.config);
  }
  return kernels;
}

constexpr Direction kDirections[] = {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight};

class StripsExact : public testing::TestWithParam<const char*> {};

// With and without shared pixels: the first kernel whose bands have three rows.
TEST_P(StripsExact, InEveryDirection) {
  const auto device = simulated_hopper();
  for (const Direction direction : kDirections) {
    const ConvProblem forward = problem_of(GetParam());
    const ConvProblem problem = direction == Direction::kForward ? forward : with_direction(forward, direction);
    std::set<bool> seen;
    for (const KernelConfig& config : strips_kernels(problem)) {
      if (config.direct.block_channels != 16 || config.direct.sub_h != 3) continue;
      if (seen.insert(strips::shares_pixels(config)).second) expect_exact(device, problem, config);
    }
    EXPECT_EQ(seen.size(), problem.stride[2] == 1 ? 2u : 1u) << to_text(problem);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Problems, StripsExact,
    testing::Values("fwd bf16 n2 c16 k16 g16 i9x19 f3x3 p1 +bias+relu", "fwd bf16 n1 c24 k24 g24 i13x11 f9x9 p4",
                    "fwd bf16 n3 c8 k8 g8 i7x7 f13x13 p6 +residual", "fwd fp16 n1 c8 k8 g8 i6x40 f4x4 p2:1x1:2",
                    "fwd bf16 n1 c8 k8 g8 i5x70 f1x31 p0x15", "fwd bf16 n1 c8 k8 g8 i17x6 f11x1 p5x0",
                    "fwd bf16 n2 c8 k8 g8 i300 f31 p15", "fwd bf16 n1 c16 k16 g16 i16x17 f3x3 d7 p7 +scale+bias",
                    "fwd bf16 n1 c8 k8 g8 i20x21 f7x7 d3 p9", "fwd bf16 n1 c8 k8 g8 i9x90 f2x3 d2x36 p1x36",
                    "fwd bf16 n2 c8 k8 g8 i13x14 f3x3 s2 p1 +amax", "fwd bf16 n1 c8 k8 g8 i15x26 f5x4 s3x2 p2x1",
                    "fwd bf16 n1 c8 k8 g8 i16x35 f3x7 s2x3 d3x2 p2x4", "fwd bf16 n1 c8 k8 g8 i14x23 f3x3 s4 d2 p1",
                    "fwd bf16 n1 c8 k8 g8 i9x9 f2x2 s5x6", "fwd bf16 n1 c8 k8 g8 i33x40 f1x1 s8x7 p3",
                    "fwd bf16 n2 c8 k8 g8 i5x6x9 f3x3x3 p1 +bias",
                    "fwd bf16 n1 c8 k8 g8 i6x7x10 f3x2x4 s2x1x2 d1x2x1 p1x2x1",
                    "fwd bf16 n1 c8 k8 g8 i9x4x5 f5x1x1 p2x0x0", "fwd bf16 n1 c8 k8 g8 i3x4 f9x9 p8"));

// Channels that are no whole vectors, and several outputs of an input channel.
TEST(StripsExact, OddChannelsAndMultipliers) {
  const auto device = simulated_hopper();
  for (const char* text :
       {"fwd bf16 n2 c20 k20 g20 i9x11 f5x5 p2", "fwd bf16 n1 c54 k54 g54 i3x6x9 f3x3x3 p1",
        "fwd fp16 n1 c17 k17 g17 i8x9 f3x4 s2 p1 +bias", "fwd bf16 n1 c8 k32 g8 i7x12 f3x3 p1 +bias",
        "fwd bf16 n2 c16 k32 g16 i9x10 f3x3 s2 p1", "fwd bf16 n1 c5 k15 g5 i11x6 f3x3 s3x2 d2 p2 +residual",
        "fwd bf16 n1 c6 k12 g6 i40 f9 p4"}) {
    for (const Direction direction : kDirections) {
      const ConvProblem forward = problem_of(text);
      const ConvProblem problem = direction == Direction::kForward ? forward : with_direction(forward, direction);
      const auto kernels = strips_kernels(problem);
      ASSERT_FALSE(kernels.empty()) << to_text(problem);
      expect_exact(device, problem, kernels.front());
    }
  }
}

// Bands of every height, blocks of more and of fewer channels, several matrices at a time.
TEST(StripsExact, EveryVariant) {
  const auto device = simulated_hopper();
  for (const Direction direction : kDirections) {
    const ConvProblem forward = problem_of("fwd bf16 n3 c40 k40 g40 i14x29 f5x5 p2 +bias");
    const ConvProblem problem = direction == Direction::kForward ? forward : with_direction(forward, direction);
    const auto kernels = strips_kernels(problem);
    EXPECT_GE(kernels.size(), direction == Direction::kBackwardWeight ? 10u : 12u);
    for (const KernelConfig& config : kernels) expect_exact(device, problem, config);
  }
}

// Random data, blocks and warps in three orders: the same bits.
TEST(StripsWeight, DoesNotDependOnTheOrderOfBlocks) {
  for (const char* text :
       {"bwd_weight bf16 n5 c24 k24 g24 i13x29 f4x3 p1", "bwd_weight bf16 n2 c8 k16 g8 i9x30 f11x13 p5"}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = strips_kernels(problem);
    ASSERT_FALSE(kernels.empty()) << text;
    const auto first = random_output(problem, kernels.front(), "1");
    EXPECT_FALSE(first.empty());
    for (const char* seed : {"2", "3"}) EXPECT_TRUE(random_output(problem, kernels.front(), seed) == first) << text;
  }
}

TEST(StripsExact, StrictPlansHaveNone) {
  expect_finite_only(problem_of("fwd bf16 n2 c16 k16 g16 i28x28 f9x9 p4"),
                     [](const KernelConfig& c) { return c.kind == Kind::kDepthwiseStrips; });
}

#if WT_HAVE_NVRTC
TEST(StripsSpills, None) {
  std::vector<KernelConfig> sample;
  for (const Direction direction : kDirections) {
    for (const char* text :
         {"fwd bf16 n16 c256 k256 g256 i28x28 f27x27 p13", "fwd bf16 n16 c64 k128 g64 i56x56 f3x3 p1"}) {
      for (const KernelConfig& config : strips_kernels(with_direction(problem_of(text), direction)))
        sample.push_back(config);
    }
  }
  EXPECT_GE(sample.size(), 30u);
  expect_no_spills(sample);
}
#endif  // WT_HAVE_NVRTC

}  // namespace
}  // namespace wt
