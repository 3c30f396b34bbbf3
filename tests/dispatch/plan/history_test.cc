// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/plan/history_test.cc - causal problems with a history: by every kernel that reads it, by others over
// both joined, and the history for the next call.
#include "dispatch/plan/history.h"

#include <gmock/gmock.h>

#include "dispatch/choice/candidates.h"
#include "dispatch/plan/first_rows.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/spills.h"

namespace wt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TrialResult exact_trial(const std::shared_ptr<Device>& device, const ConvProblem& problem, const PlanOptions& options) {
  return run_trial(device, problem, {.plan = options, .exact = true, .seed = 7, .time = false});
}

// The new history over the history: the outputs are those of apart.
void expect_in_place(const std::shared_ptr<Device>& device, const ConvProblem& problem, const KernelConfig& config) {
  const auto plan = make_kernel_plan(device, problem, config, "tested", {}, 0);
  auto tensors = TrialTensors::make(device, problem, true, 7);
  ASSERT_TRUE(plan.ok() && tensors.ok()) << plan.status().message() << tensors.status().message();
  TensorPointers pointers = (*tensors)->pointers();
  pointers[Tensor::kNewHistory] = pointers[Tensor::kHistory];
  ASSERT_TRUE((*plan)->execute(pointers, nullptr).ok());
  HostTensors host = make_tensors(problem, Fill::kExact, 7);
  ASSERT_TRUE(device->synchronize(nullptr).ok());
  ASSERT_TRUE(device->copy_out(host.new_history.data(), pointers[Tensor::kHistory], host.history.size()).ok());
  ASSERT_TRUE(device->copy_out(host.y.data(), pointers[Tensor::kY], host.y.size()).ok());
  const VerifyReport report = verify(problem, host, {.model = {.exact = true}});
  EXPECT_TRUE(report.passed()) << to_text(problem) << " by " << name_of(config) << ": " << report.summary();
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

struct Case {
  const char* sizes;
  const char* after = "";  // of bwd_data
};

// Every direction and dimension, dense, grouped and depthwise: fewer and more rows than the history has, strides,
// dilation, both layouts.
constexpr Case kCases[] = {{"bf16*bf16>fp32 n2 c16 k8 i9 f4"},
                           {"bf16 n2 c8 k8 g8 i2 f4 d2", " new_history"},
                           {"fp32 n2 c4 k6 g2 i7x3 f3x2 NCHW", " new_history +alpha=0.5+residual"},
                           {"fp16 n1 c8 k16 i6x4x5 f3x3x3 s2x1x1", " new_history"},
                           {"bf16 n2 c6 k6 g6 i5x4 f2x3 s2x2 d3x1 NCHW"},
                           {"bf16*bf16>fp32 n2 c8 k8 i8x2x3 f2x1x3", " new_history"}};

void expect_exact_in_every_direction(const std::shared_ptr<Device>& device, const Case& one) {
  for (const std::string& text : {fmt::format("fwd {} pcausal history +bias+residual", one.sizes),
                                  fmt::format("bwd_data {} pcausal history{}", one.sizes, one.after),
                                  fmt::format("bwd_weight {} pcausal history +alpha=0.5", one.sizes)}) {
    const TrialResult result = exact_trial(device, problem_of(text), {.tuning = Tuning::kOff});
    EXPECT_TRUE(result.verified) << text << ": " << result.status.message();
  }
}

TEST_F(History, IsExactInEveryDirection) {
  for (const Case& one : kCases) expect_exact_in_every_direction(device_, one);
}

TEST(HistoryOf, OtherTargetsIsExact) {
  for (const char* target : {"sim:sm_80", "sim:gfx942"}) {
    const auto device = open_device(target);
    ASSERT_TRUE(device.ok()) << device.status().message();
    for (const size_t i : {size_t{1}, size_t{3}}) expect_exact_in_every_direction(*device, kCases[i]);
    const TrialResult step =
        exact_trial(*device, problem_of("fwd bf16 n3 c16 k16 g16 i1 f4 pcausal history new_history +bias+silu"),
                    {.tuning = Tuning::kOff});
    EXPECT_THAT(step.plan.kernel, HasSubstr("depthwise_step"));
    EXPECT_TRUE(step.verified) << step.status.message();
  }
}

// The first rows apart, whatever would be chosen: epilogues that read tensors, the output in place of the residual.
TEST_F(History, MeetsTheFirstRowsApart) {
  for (const char* text : {"fwd bf16 n2 c8 k16 i12 f3 s2 pcausal history new_history +bias+residual+add=0.5+relu",
                           "fwd fp32 n2 c3 k4 i6x4 f2x3 d2x1 pcausal history new_history NCHW",
                           "fwd bf16 n1 c8 k16 i13 f4 s2 pcausal history +bias+residual+relu",
                           "fwd bf16 n1 c8 k8 i7x4x4 f3x3x3 pcausal history new_history",
                           "bwd_weight bf16*bf16>fp32 n2 c8 k8 i9x3 f3x3 pcausal history +alpha=0.5+scale",
                           "bwd_data bf16 n2 c8 k8 i2 f4 pcausal history new_history +residual"}) {
    const ConvProblem problem = problem_of(text);
    ASSERT_EQ(first_rows_obstacle(problem), "") << text;
    const auto main = make_plan(device_, main_part(problem, has_one_run(problem)), {.tuning = Tuning::kOff});
    const auto first = make_plan(device_, first_part(problem), {.tuning = Tuning::kOff});
    ASSERT_TRUE(main.ok() && first.ok()) << main.status().message() << first.status().message();
    const auto plan = make_first_rows_plan(device_, problem, *main, *first, JoinIn::kWorkspace, "tested");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    auto tensors = TrialTensors::make(device_, problem, true, 7);
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    TrialOptions options;
    options.exact = true;
    options.same = 2;
    options.time = false;
    const TrialResult result = run_trial(**tensors, **plan, options);
    EXPECT_TRUE(result.verified) << text << ": " << result.status.message();
  }
  // Of one image the first rows are computed once.
  const ConvProblem video = problem_of("fwd bf16 n1 c8 k8 i7x4x4 f3x3x3 pcausal history");
  EXPECT_EQ(to_text(main_part(video, has_one_run(video))), "fwd bf16 n1 c8 k8 i7x4x4 f3x3x3 p0x1x1");
  EXPECT_FALSE(has_one_run(problem_of("fwd bf16 n2 c8 k8 i7x4x4 f3x3x3 pcausal history")));
  EXPECT_FALSE(has_one_run(problem_of("fwd bf16 n1 c3 k8 i7 f3 pcausal history")));
  EXPECT_EQ(first_rows_obstacle(problem_of("fwd bf16 c8 k8 i3 f4 pcausal history")),
            "the history meets every row of y");
  EXPECT_EQ(first_rows_obstacle(problem_of("fwd bf16 c8 k8 i9 f4 pcausal history +amax")),
            "amax is one number of all rows");
  EXPECT_THAT(first_rows_obstacle(problem_of("bwd_weight bf16 c8 k8 i9 f4 pcausal history")),
              HasSubstr("rounded to bf16"));
}

// One launch for a token of every sequence: each vector and filter, several tokens, and the state in place.
TEST_F(History, IsReadAndWrittenByAStep) {
  std::set<std::pair<int, int>> tried;
  for (const char* text : {"fwd bf16 n3 c16 k16 g16 i1 f4 pcausal history new_history +bias+silu",
                           "fwd bf16 n2 c7 k7 g7 i1 f3 pcausal history new_history",
                           "fwd fp32 n2 c12 k12 g12 i1 f2 pcausal history new_history +alpha=0.5+residual",
                           "fwd fp16 n2 c8 k8 g8 i1 f9 d3 pcausal history new_history +bias",
                           "fwd bf16 n2 c6 k6 g6 i5 f4 pcausal history new_history NCW",
                           "fwd bf16 n1 c8 k8 g8 i1 f128 pcausal history new_history",
                           "fwd bf16 n2 c24 k24 g24 i6 f5 s2 pcausal history new_history"}) {
    const ConvProblem problem = problem_of(text);
    int kernels = 0;
    for (const RankedCandidate& candidate : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
      if (candidate.config.kind != Kind::kDepthwiseStep || !candidate.accepts()) continue;
      tried.insert({candidate.config.fixed.filter_h, candidate.config.direct.vector_out});
      expect_exact(device_, problem, candidate.config);
      expect_in_place(device_, problem, candidate.config);
      ++kernels;
    }
    EXPECT_GT(kernels, 0) << text;
  }
  EXPECT_GE(tried.size(), 10u);
  const auto plan =
      make_plan(device_, problem_of("fwd bf16 n64 c5120 k5120 g5120 i1 f4 pcausal history new_history +bias+silu"),
                {.tuning = Tuning::kOff});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_THAT((*plan)->description().kernel, HasSubstr("depthwise_step"));
  EXPECT_EQ((*plan)->description().launches, 1);
  EXPECT_EQ((*plan)->workspace_bytes(), 0);
}

// What no kernel reads natively runs over history and x joined.
TEST_F(History, IsJoinedForTheOthers) {
  for (const char* text : {"fwd bf16 n2 c32 k24 i9 f3 pcausal history new_history +bias",
                           "fwd fp32 n2 c6 k4 g2 i3 f4 d2 pcausal history new_history NCW",
                           "fwd bf16 n0 c8 k8 g8 i4 f4 pcausal history new_history",
                           "bwd_data bf16 n0 c8 k8 i9 f3 pcausal history new_history"}) {
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
  EXPECT_THAT(named.plan.reason, HasSubstr("are copied): asked for by name"));
}

// One kernel of each kind that reads a history.
std::vector<KernelConfig> reading_kernels(Target target) {
  std::vector<KernelConfig> kernels;
  for (const char* text :
       {"fwd bf16 n2 c8 k8 g8 i64 f4 pcausal history +silu", "fwd fp32 n2 c8 k8 g8 i64 f8 pcausal history",
        "bwd_weight bf16 n2 c8 k8 g8 i64 f4 pcausal history"}) {
    const auto ranked = rank_candidates(problem_of(text), target, {}, Breadth::kAll);
    for (const Kind design : {Kind::kDepthwiseStream, Kind::kDepthwiseGather, Kind::kDepthwiseStep}) {
      const auto found = std::ranges::find_if(ranked, [&](const RankedCandidate& candidate) {
        return candidate.accepts() && candidate.config.kind == design;
      });
      const bool expected = design != Kind::kDepthwiseStep || problem_of(text).direction == Direction::kForward;
      EXPECT_EQ(found != ranked.end(), expected) << text;
      if (found != ranked.end()) kernels.push_back(found->config);
    }
  }
  return kernels;
}

#if WT_HAVE_NVRTC
TEST(HistoryKernels, KeepTheirRegisters) { expect_no_spills(reading_kernels(Target::kSm90a)); }
#endif
#if WT_HAVE_CLANG
TEST(HistoryKernels, KeepTheirRegistersOnAmd) {
  expect_no_spills(reading_kernels(Target::kGfx942), compile::Backend::kClang);
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
  for (const Case& one : kCases) expect_exact_in_every_direction(*device, one);
  // No workspace is enough for a gradient too.
  const TrialResult none =
      exact_trial(*device, problem_of("bwd_data bf16 n2 c8 k8 i16 f3 pcausal history"), {.workspace_limit = 0});
  EXPECT_TRUE(none.verified) << none.status.message();
  EXPECT_EQ(none.workspace_bytes, 0);
  // Long filters, with the state between the calls.
  const TrialResult filter =
      exact_trial(*device, problem_of("fwd fp32 n1 c3 k3 g3 i5 f128 pcausal history new_history"), {});
  EXPECT_TRUE(filter.verified) << filter.status.message();
}

}  // namespace
}  // namespace wt
