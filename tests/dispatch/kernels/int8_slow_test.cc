// SPDX-License-Identifier: Apache-2.0
// int8 to the bit in every kernel that multiplies it: each loop of the portable pipelines, the generic kernel on every
// target, and depthwise, on numbers of the whole range with zero points.
#include <stdlib.h>

#include "config/signature.h"
#include "kernels/kind.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/portable_kernels.h"

namespace wt {
namespace {

// Random numbers: for int8 the bound is zero, so that nothing but the right bits passes.
void expect_bits(Target target, const ConvProblem& problem, const KernelConfig& config) {
  static int turn = 0;
  const char* const policies[] = {"early", "late", "random"};
  ::setenv("WAVETILE_SIM_COMPLETION", policies[turn++ % 3], 1);
  const auto device = simulated(target);
  ::unsetenv("WAVETILE_SIM_COMPLETION");
  const auto plan = make_kernel_plan(device, problem, config, "tested");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto tensors = TrialTensors::make(device, problem, false, 3);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  TrialOptions options;
  options.seed = 3;
  options.time = false;
  const TrialResult result = run_trial(**tensors, **plan, options);
  EXPECT_TRUE(result.verified) << to_text(problem) << " by " << name_of(config) << ": " << result.status.message();
  EXPECT_EQ(result.verification.rounded_otherwise, 0);
}

// Zero points of both, a pixel of padding on each side of a stride, channels that end within tiles.
constexpr const char* kFull = "fwd int8 n2 c48 k80 i9x7 f3x3 s2 p1 x_zero=-77 y_zero=31 +scale+bias+residual+relu";

class Int8Loops : public testing::TestWithParam<Target> {};

TEST_P(Int8Loops, EveryLoopGivesTheBits) {
  const ConvProblem problem = problem_of(kFull);
  const auto kernels = one_of_each_loop(problem, GetParam());
  ASSERT_GE(kernels.size(), info_of(GetParam()).async_copy ? 11u : 8u);
  for (const KernelConfig& config : kernels) expect_bits(GetParam(), problem, config);
}

INSTANTIATE_TEST_SUITE_P(Targets, Int8Loops, testing::Values(Target::kSm80, Target::kGfx942, Target::kGfx1100),
                         [](const auto& param) { return std::string(text_of(param.param)); });

// Groups, single channels, large padding on one side, dilation, one and three dimensions, every output type, sums whose
// fp32 is not exact. The kernel is the portable one that would be chosen.
TEST(Int8, EdgesGiveTheBits) {
  for (const char* text : {"fwd int8 n1 c36 k24 g2 i7x6 f5x3 p4:0x0:2 d1x2 x_zero=127 +scale",
                           "fwd int8*int8>fp32 n1 c5 k7 i11 f4 s3 p3 x_zero=-128",
                           "fwd int8*int8>bf16 n1 c17 k33 i4x3x5 f2x3x2 p1 x_zero=1 +bias+leaky_relu=0.3",
                           "fwd int8*int8>fp16 n1 c64 k24 i5x5 f1x1 x_zero=9 +alpha=0.003",
                           "fwd int8 n1 c64 k24 i5x5 f1x1 y_zero=-128 +scale+clamp",
                           "fwd int8*int8>fp32 n1 c1200 k16 i2x2 f1x1 +scale+bias"}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = portable_kernels(problem, Target::kSm80);
    ASSERT_FALSE(kernels.empty()) << text;
    expect_bits(Target::kSm80, problem, kernels.front());
  }
}

// The generic kernel, in both layouts, by each target's own instruction.
TEST(Int8, EveryTargetHasAKernel) {
  for (const Target target : {Target::kSm90a, Target::kSm100a, Target::kGfx90a, Target::kGfx942, Target::kGfx950,
                              Target::kGfx1100, Target::kGfx1201, Target::kGfx1250}) {
    const char* text = target == Target::kGfx942 || target == Target::kSm90a
                           ? "fwd int8 n1 c11 k20 i5x6 f3x3 p2 x_zero=-5 y_zero=9 NCHW +scale"
                           : "fwd int8 n1 c11 k20 i5x6 f3x3 p2 x_zero=-5 y_zero=9 +scale";
    const ConvProblem problem = problem_of(text);
    int tested = 0;
    for (const RankedCandidate& candidate : rank_candidates(problem, target, {}, Breadth::kAll)) {
      if (!candidate.accepts() || candidate.config.kind != Kind::kBasic || tested > 0) continue;
      expect_bits(target, problem, candidate.config);
      ++tested;
    }
    EXPECT_EQ(tested, 1) << text_of(target);
  }
}

// Depthwise of every vector width, with and without sliding, a multiplier, a stride.
TEST(Int8, DepthwiseGivesTheBits) {
  const auto gathers = [](const ConvProblem& problem, Target target) {
    std::vector<KernelConfig> kernels;
    for (const RankedCandidate& candidate : rank_candidates(problem, target, {}, Breadth::kAll))
      if (candidate.accepts() && candidate.config.kind == Kind::kDepthwiseGather) kernels.push_back(candidate.config);
    return kernels;
  };
  const ConvProblem sliding = problem_of("fwd int8 n1 c40 k40 g40 i6x11 f3x3 p1 x_zero=-90 y_zero=4 +scale+bias+relu");
  const auto kernels = gathers(sliding, Target::kSm80);
  EXPECT_GE(kernels.size(), 8u);
  for (const KernelConfig& config : kernels) expect_bits(Target::kSm80, sliding, config);
  for (const Target target : {Target::kGfx942, Target::kGfx1100}) {
    for (const char* text : {"fwd int8*int8>fp32 n1 c6 k12 g6 i9x8 f5x3 s2 p2 x_zero=100",
                             "fwd int8 n2 c8 k8 g8 i13 f7 p3 y_zero=-2 +scale"}) {
      const ConvProblem problem = problem_of(text);
      const auto some = gathers(problem, target);
      ASSERT_FALSE(some.empty()) << text;
      expect_bits(target, problem, some.front());
    }
  }
}

// What cannot multiply int8 says so.
TEST(Int8, OtherKindsDecline) {
  const ConvProblem problem = problem_of("fwd int8 n1 c64 k64 i9x9 f3x3 p1");
  KernelConfig config = config_for(problem_of("fwd bf16 n1 c64 k64 i9x9 f3x3 p1"), Target::kSm90a);
  std::vector<KernelConfig> proposals;
  propose(config, Breadth::kAll, proposals);
  const auto tma = std::ranges::find_if(proposals, [](const KernelConfig& c) { return c.kind == Kind::kTma; });
  ASSERT_NE(tma, proposals.end());
  config = *tma;
  config.x = config.w = config.y = DataType::kI8;
  bool said = false;
  for (const Decline& decline : declines(config)) {
    if (decline.id != "int8") continue;
    said = true;
    EXPECT_EQ(decline.message,
              "kind=tma with direction=fwd does not multiply int8; use basic, portable or depthwise_gather, forward");
  }
  EXPECT_TRUE(said);
}

}  // namespace
}  // namespace wt
