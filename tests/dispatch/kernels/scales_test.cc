// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/scales_test.cc - numbers with scales of blocks by the generic kernel of several targets, by
// the CPU, and where they are refused.
#include <gmock/gmock.h>

#include "config/signature.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

constexpr const char* kProblems[] = {
    "fwd e4m3>bf16 n2 c96 k20 i5x7 f3x3 p1 s2 scales=mx", "fwd e5m2*e4m3>fp32 n1 c64 k10 g2 i6x6 f2x2 d2 scales=mx",
    "fwd e2m1>fp16 n1 c64 k17 i9 f3 p1 scales=mx +bias+relu", "fwd e2m1>bf16 n1 c48 k6 g3 i3x4x3 f3x3x3 p1 scales=nv"};

TEST(ScaledBasic, IsExactOnEveryVendor) {
  for (const char* target : {"sim:sm_90a", "sim:gfx942", "sim:gfx1100", "sim:sm_120a"}) {
    const auto device = open_device(target);
    ASSERT_TRUE(device.ok()) << device.status().message();
    for (const char* text : kProblems) {
      TrialOptions options;
      options.exact = true;
      options.time = false;
      const TrialResult result = run_trial(*device, problem_of(text), options);
      EXPECT_TRUE(result.verified) << text << " on " << target << ": " << result.status.message();
    }
  }
}

// Scales are as far apart as random numbers are, and no power of two where they need not be.
TEST(ScaledBasic, IsWithinBoundsOnRandomNumbers) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok());
  for (const char* text : kProblems) {
    TrialOptions options;
    options.time = false;
    const TrialResult result = run_trial(*device, problem_of(text), options);
    EXPECT_TRUE(result.verified) << text << ": " << result.status.message();
  }
}

TEST(ScaledCpu, IsExactAndWithinBounds) {
  const auto device = open_device("cpu");
  ASSERT_TRUE(device.ok());
  for (const char* text : kProblems) {
    for (const char* path : {"", "builtin"}) {
      for (const bool exact : {true, false}) {
        TrialOptions options;
        options.exact = exact;
        options.time = false;
        options.plan.kernel = path;
        const TrialResult result = run_trial(*device, problem_of(text), options);
        EXPECT_TRUE(result.verified) << text << " " << path << ": " << result.status.message();
      }
    }
  }
}

// Others do not stand among the candidates, and say why where they are asked.
TEST(ScaledChoice, OnlyKernelsThatReadScales) {
  const ConvProblem problem = problem_of("fwd e4m3>bf16 n4 c128 k128 i16x16 f3x3 p1 scales=mx");
  for (const Target target : {Target::kSm80, Target::kSm90a, Target::kSm100a, Target::kGfx950}) {
    bool served = false;
    for (const RankedCandidate& c : rank_candidates(problem, target, {}, Breadth::kAll)) {
      EXPECT_TRUE(c.config.kind == Kind::kBasic || c.config.kind == Kind::kTcgen05) << c.name;
      EXPECT_THAT(c.name, testing::HasSubstr("scales_mx"));
      served = served || c.accepts();
    }
    EXPECT_TRUE(served);
  }
  KernelConfig config = config_for(problem, Target::kSm90a);
  config.kind = Kind::kTma;
  EXPECT_THAT(to_text(declines(config)), testing::HasSubstr("block-scales: kind=tma with scales=mx"));
}

TEST(ScaledChoice, ChoosesTensorMemoryForLargeLayers) {
  for (const char* text : {"fwd e4m3>bf16 n32 c256 k256 i56x56 f3x3 p1 scales=mx",
                           "fwd e2m1>bf16 n32 c256 k256 i56x56 f3x3 p1 scales=nv"}) {
    const auto ranked = rank_candidates(problem_of(text), Target::kSm100a, {}, Breadth::kAll);
    ASSERT_FALSE(ranked.empty());
    EXPECT_EQ(ranked.front().config.kind, Kind::kTcgen05) << text << ": " << ranked.front().name;
    EXPECT_TRUE(ranked.front().accepts());
  }
}

}  // namespace
}  // namespace wt
