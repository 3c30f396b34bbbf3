// SPDX-License-Identifier: Apache-2.0
#include "dispatch/trial/trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "problem/reference.h"

namespace wt {
namespace {

using ::testing::HasSubstr;

ConvProblem problem_of(const std::string& text) {
  Result<ConvProblem> problem = parse_problem(text);
  EXPECT_TRUE(problem.ok()) << problem.status().message();
  return problem.ok() ? *problem : ConvProblem{};
}

std::shared_ptr<Device> cpu() {
  Result<std::shared_ptr<Device>> device = open_device("cpu");
  EXPECT_TRUE(device.ok()) << device.status().message();
  return *device;
}

// A plan that copies the tensor it is told to into the output.
class CopyPlan : public Plan {
 public:
  CopyPlan(const ConvProblem& problem, Buffer answer, Status answered = {})
      : problem_(problem), answer_(std::move(answer)), answered_(std::move(answered)) {
    description_.kernel = "copy";
  }
  const ConvProblem& problem() const override { return problem_; }
  const PlanDescription& description() const override { return description_; }
  int64_t workspace_bytes() const override { return 100; }
  Status execute(const TensorPointers& tensors, Stream) const override {
    ++executions;
    EXPECT_NE(tensors[Tensor::kWorkspace], nullptr);
    if (answered_.ok()) std::memcpy(tensors[Tensor::kY], answer_.data(), answer_.size());
    return answered_;
  }
  mutable int executions = 0;

 private:
  ConvProblem problem_;
  Buffer answer_;
  Status answered_;
  PlanDescription description_;
};

struct Prepared {
  ConvProblem problem = problem_of("fwd fp32 n2 c3 k4 i5x6 f3x3 p1");
  std::unique_ptr<TrialTensors> tensors = *TrialTensors::make(cpu(), problem, true, 7);
  HostTensors answer = make_tensors(problem, Fill::kExact, 7);
  TrialOptions options;

  Prepared() {
    options.exact = true;
    options.seed = 7;
    reference(problem, answer);
  }
};

TEST(Trial, VerifiesThenTimesARightPlan) {
  Prepared prepared;
  const CopyPlan plan(prepared.problem, prepared.answer.y.copy());
  prepared.options.repeat = 5;
  const TrialResult result = run_trial(*prepared.tensors, plan, prepared.options);
  EXPECT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_TRUE(result.verified);
  EXPECT_EQ(result.plan.kernel, "copy");
  EXPECT_EQ(result.workspace_bytes, 100);
  ASSERT_TRUE(result.timing);
  EXPECT_EQ(result.timing->runs, 5);
  EXPECT_GT(result.gigaflops(), 0);
  EXPECT_GT(result.gigabytes(), 0);
  EXPECT_EQ(plan.executions, 6);
}

TEST(Trial, NeverTimesAWrongResult) {
  Prepared prepared;
  prepared.answer.y.as<float>()[11] += 1;
  const CopyPlan plan(prepared.problem, prepared.answer.y.copy());
  const TrialResult result = run_trial(*prepared.tensors, plan, prepared.options);
  EXPECT_EQ(result.status.code(), Code::kVerificationFailed);
  EXPECT_THAT(result.status.message(), HasSubstr("copy on cpu"));
  EXPECT_FALSE(result.verified);
  EXPECT_FALSE(result.timing);
  EXPECT_EQ(result.gigaflops(), 0);
  EXPECT_EQ(result.verification.wrong, 1);
  EXPECT_EQ(plan.executions, 1);
}

TEST(Trial, SeesWhatWasNeverWritten) {
  Prepared prepared;
  const CopyPlan right(prepared.problem, prepared.answer.y.copy());
  EXPECT_TRUE(run_trial(*prepared.tensors, right, prepared.options).verified);
  // The second plan writes half of the output; the first one's result must not help it.
  Buffer half(prepared.answer.y.size() / 2);
  std::memcpy(half.data(), prepared.answer.y.data(), half.size());
  const TrialResult result =
      run_trial(*prepared.tensors, CopyPlan(prepared.problem, std::move(half)), prepared.options);
  EXPECT_EQ(result.status.code(), Code::kVerificationFailed);
  EXPECT_EQ(result.verification.unwritten, prepared.problem.y_elements() / 2);
}

// Right at first; its third execution gives something else.
class UnsteadyPlan : public CopyPlan {
 public:
  using CopyPlan::CopyPlan;
  Status execute(const TensorPointers& tensors, Stream stream) const override {
    WT_TRY(CopyPlan::execute(tensors, stream));
    if (executions == 3) static_cast<float*>(tensors[Tensor::kY])[5] += 1;
    return {};
  }
};

TEST(Trial, RequiresTheSameBitsAsOftenAsAsked) {
  Prepared prepared;
  prepared.options.time = false;
  prepared.options.same = 5;
  const CopyPlan steady(prepared.problem, prepared.answer.y.copy());
  const TrialResult good = run_trial(*prepared.tensors, steady, prepared.options);
  EXPECT_TRUE(good.status.ok()) << good.status.message();
  EXPECT_EQ(good.same, 4);
  EXPECT_EQ(steady.executions, 5);
  EXPECT_THAT(good.replay, HasSubstr("--same 5"));

  const UnsteadyPlan unsteady(prepared.problem, prepared.answer.y.copy());
  const TrialResult bad = run_trial(*prepared.tensors, unsteady, prepared.options);
  EXPECT_EQ(bad.status.code(), Code::kVerificationFailed);
  EXPECT_THAT(bad.status.message(), HasSubstr("execution 3 of 5 gave other bits than the first"));
  EXPECT_FALSE(bad.verified);
}

TEST(Trial, PassesAFailureOnWithTheKernelsName) {
  Prepared prepared;
  const CopyPlan plan(prepared.problem, {}, failure(Code::kDevice, "it burns"));
  const TrialResult result = run_trial(*prepared.tensors, plan, prepared.options);
  EXPECT_EQ(result.status.code(), Code::kDevice);
  EXPECT_EQ(result.status.message(), "copy on cpu: it burns");
  EXPECT_FALSE(result.verified);
}

class TrialOnCpu : public ::testing::TestWithParam<const char*> {};

TEST_P(TrialOnCpu, IsRight) {
  TrialOptions options;
  options.repeat = 1;
  for (const bool exact : {false, true}) {
    options.exact = exact;
    const TrialResult result = run_trial(cpu(), problem_of(GetParam()), options);
    EXPECT_TRUE(result.status.ok()) << result.status.message();
    EXPECT_TRUE(result.verified);
  }
}

INSTANTIATE_TEST_SUITE_P(All, TrialOnCpu,
                         ::testing::Values("fwd bf16 n2 c16 k24 i9x9 f3x3 p1 +bias+relu",
                                           "bwd_data fp16 n2 c16 k24 i9x9 f3x3 s2 p1",
                                           "bwd_weight fp32 n2 g4 c16 k24 i9 f3 p1", "fwd bf16 n0 c4 k4 i5x5 f3x3",
                                           "fwd fp32 n1 c4 k4 i4x5x6 f2x2x2 +scale+bias+residual+silu+amax"));

TEST(Trial, ReportsAnUnknownKernelAndFillsNothing) {
  TrialOptions options;
  options.plan.kernel = "no_such_kernel";
  // Far more memory than there is: the plan must be refused before any tensor is made.
  const TrialResult result = run_trial(cpu(), problem_of("fwd bf16 n100000 c4096 k4096 i512x512 f3x3 p1"), options);
  EXPECT_FALSE(result.status.ok());
  EXPECT_THAT(result.status.message(), HasSubstr("no_such_kernel"));
}

TEST(Trial, RefusesWhatDoesNotFitTheMachine) {
  const TrialResult result = run_trial(cpu(), problem_of("fwd bf16 n100000 c4096 k4096 i512x512 f3x3 p1"), {});
  EXPECT_EQ(result.status.code(), Code::kDevice);
  EXPECT_THAT(result.status.message(), HasSubstr("GiB of host memory and this machine has"));
}

TEST(Trial, ReplayHoldsEverythingThatMatters) {
  const ConvProblem problem = problem_of("fwd bf16 n2 c16 k24 i9x9 f3x3 p1");
  TrialOptions options;
  EXPECT_EQ(replay_command(problem, "cpu", options), "wavetile run 'fwd bf16 n2 c16 k24 i9x9 f3x3 p1' --device cpu");
  options.exact = true;
  options.seed = 9;
  options.plan.kernel = "onednn";
  EXPECT_EQ(replay_command(problem, "cpu", options),
            "wavetile run 'fwd bf16 n2 c16 k24 i9x9 f3x3 p1' --device cpu --exact --seed 9 --kernel onednn");
}

TEST(Trial, TimesSlowCpuRunsSeldom) {
  EXPECT_EQ(timer_options(DeviceKind::kCpu, 2.0, 0).max_runs, 3);
  EXPECT_GT(timer_options(DeviceKind::kCpu, 1e-4, 0).max_runs, 100);
  EXPECT_FALSE(timer_options(DeviceKind::kCpu, 1e-4, 0).cold_l2);
  EXPECT_TRUE(timer_options(DeviceKind::kCuda, 1e-4, 0).cold_l2);
  EXPECT_EQ(timer_options(DeviceKind::kCuda, 1e-4, 9).max_runs, 9);
  EXPECT_EQ(timer_options(DeviceKind::kCuda, 1e-4, 9).min_runs, 9);
}

}  // namespace
}  // namespace wt
