// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/plan/history_test.cc - causal problems with a history: by every kernel that reads it, by others over
// both joined, and the history for the next call.
#include "dispatch/plan/history.h"

#include <gmock/gmock.h>

#include "dispatch/choice/candidates.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/spills.h"

namespace wt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TrialResult exact_trial(const std::shared_ptr<Device>& device, const ConvProblem& problem, const PlanOptions& options) {
  return run_trial(device, problem, {.plan = options, .exact = true, .seed = 7, .time = false});
}

class History : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto device = open_device("sim:sm_90a");
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
  }
  std::shared_ptr<Device> device_;
};

// Depthwise is read natively: fewer pixels than the history, odd channels, multipliers, dilation, both layouts.
TEST_F(History, IsReadByDepthwiseKernels) {
  for (const char* text :
       {"fwd bf16 n2 c16 k16 g16 i9 f4 pcausal history new_history +bias+relu",
        "fwd bf16 n3 c17 k17 g17 i2 f4 pcausal history new_history", "fwd fp32 n1 c6 k12 g6 i7 f3 d2 pcausal history",
        "fwd fp16 n2 c5 k5 g5 i11 f12 pcausal history new_history NCW"}) {
    const TrialResult result = exact_trial(device_, problem_of(text), {.tuning = Tuning::kOff});
    EXPECT_TRUE(result.verified) << text << ": " << result.status.message();
    EXPECT_THAT(result.plan.kernel, HasSubstr("_hist"));
    EXPECT_THAT(result.plan.reason, Not(HasSubstr("joined")));
  }
}

// Each design and vector that accepts it; what has no history declines with the reason.
TEST_F(History, OfEveryKindOfKernel) {
  const ConvProblem problem = problem_of("fwd bf16 n2 c8 k8 g8 i13 f4 pcausal history");
  std::set<std::pair<Kind, int>> tried;
  bool sliding = false;
  for (const RankedCandidate& candidate : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    EXPECT_EQ(candidate.accepts(), candidate.config.direct.history && candidate.accepts()) << candidate.name;
    if (!candidate.config.direct.history) {
      EXPECT_THAT(to_text(candidate.declines), HasSubstr("the kernel reads no history")) << candidate.name;
    }
    if (!candidate.accepts()) continue;
    const DirectConfig& direct = candidate.config.direct;
    const bool slides = candidate.config.kind == Kind::kDepthwiseGather && candidate.config.fixed.stride_w == 1;
    const bool fresh = tried.insert({candidate.config.kind, direct.vector_in}).second;
    if (!fresh && (!slides || sliding)) continue;
    sliding = sliding || slides;
    expect_exact(device_, problem, candidate.config);
  }
  EXPECT_GE(tried.size(), 6u);
  EXPECT_TRUE(sliding);
}

// What no kernel reads natively runs over history and x joined.
TEST_F(History, IsJoinedForTheOthers) {
  for (const char* text : {"fwd bf16 n2 c32 k24 i9 f3 pcausal history new_history +bias",
                           "fwd fp32 n2 c6 k4 g2 i3 f4 d2 pcausal history new_history NCW",
                           "fwd bf16 n0 c8 k8 g8 i4 f4 pcausal history new_history"}) {
    const TrialResult result = exact_trial(device_, problem_of(text), {.tuning = Tuning::kOff});
    EXPECT_TRUE(result.verified) << text << ": " << result.status.message();
  }
  const ConvProblem dense = problem_of("fwd bf16 n2 c32 k24 i9 f3 pcausal history");
  const TrialResult joined = exact_trial(device_, dense, {.tuning = Tuning::kOff});
  EXPECT_THAT(joined.plan.reason, HasSubstr("history and x joined before"));
  EXPECT_GE(joined.workspace_bytes, join_bytes(dense));
  const TrialResult limited = exact_trial(device_, dense, {.workspace_limit = 100, .tuning = Tuning::kOff});
  EXPECT_THAT(limited.status.message(), HasSubstr("joining history and x takes 1408 bytes of workspace, 1308 more"));
  // On the CPU no workspace is always enough.
  for (const int64_t limit : {0, 100, 1407, 1408, 100000}) {
    TrialOptions options;
    options.exact = true;
    options.time = false;
    options.plan.workspace_limit = limit;
    const TrialResult result = run_trial(*open_device("cpu"), dense, options);
    EXPECT_TRUE(result.status.ok() && result.verified) << limit << ": " << result.status.message();
    EXPECT_LE(result.workspace_bytes, limit);
  }
  // A kernel without a history, asked for by name.
  const ConvProblem depthwise = problem_of("fwd bf16 n1 c8 k8 g8 i5 f4 pcausal history");
  const auto plain = make_plan(device_, problem_of("fwd bf16 n1 c8 k8 g8 i8 f4"), {.tuning = Tuning::kOff});
  ASSERT_TRUE(plain.ok()) << plain.status().message();
  const TrialResult named = exact_trial(device_, depthwise, {.kernel = (*plain)->description().kernel});
  EXPECT_TRUE(named.verified) << named.status.message();
  EXPECT_THAT(named.plan.reason, HasSubstr("joined before: asked for by name"));
}

#if WT_HAVE_NVRTC
TEST(HistoryKernels, KeepTheirRegisters) {
  std::vector<KernelConfig> kernels;
  for (const char* text :
       {"fwd bf16 n2 c8 k8 g8 i64 f4 pcausal history +silu", "fwd fp32 n2 c8 k8 g8 i64 f8 pcausal history"}) {
    const auto ranked = rank_candidates(problem_of(text), Target::kSm90a, {}, Breadth::kAll);
    for (const Kind design : {Kind::kDepthwiseStream, Kind::kDepthwiseGather}) {
      const auto found = std::ranges::find_if(ranked, [&](const RankedCandidate& candidate) {
        return candidate.accepts() && candidate.config.kind == design;
      });
      ASSERT_NE(found, ranked.end());
      kernels.push_back(found->config);
    }
  }
  expect_no_spills(kernels);
}
#endif

// What a bias gradient or the next history needs beside the problem is left out of what tuning remembers.
TEST(HistoryKernels, AreTunedWithoutTheirExtras) {
  EXPECT_EQ(kernel_problem(problem_of("bwd_weight bf16 c8 k8 i8 bias_gradient")),
            problem_of("bwd_weight bf16 c8 k8 i8"));
  EXPECT_EQ(kernel_problem(problem_of("fwd bf16 c8 k8 i8 f4 pcausal history new_history")),
            problem_of("fwd bf16 c8 k8 i8 f4 pcausal history"));
}

TEST(HistoryOnTheCpu, IsExact) {
  const auto device = open_device("cpu");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {"fwd bf16 n2 c16 k16 g16 i9 f4 pcausal history new_history +bias+relu",
                           "fwd fp32 n2 c6 k4 g2 i3 f4 d2 pcausal history new_history NCW"}) {
    const TrialResult result = exact_trial(*device, problem_of(text), {});
    EXPECT_TRUE(result.verified) << text << ": " << result.status.message();
  }
}

}  // namespace
}  // namespace wt
