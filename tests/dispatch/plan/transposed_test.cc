// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/plan/transposed_test.cc - channels-first problems between transpositions: exact, chosen where they
// pay.
#include <gmock/gmock.h>

#include "dispatch/plan/transposed.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Transposed : public ::testing::TestWithParam<const char*> {};

TEST_P(Transposed, IsExact) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of(GetParam());
  const auto plan = make_plan(*device, problem, {.tuning = Tuning::kOff});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_THAT((*plan)->description().reason, HasSubstr("transpositions"));
  EXPECT_GE((*plan)->workspace_bytes(), transposition_bytes(problem));
  auto tensors = TrialTensors::make(*device, problem, true, 7);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  const TrialResult result = run_trial(**tensors, **plan, {.exact = true, .seed = 7, .time = false});
  EXPECT_TRUE(result.verified) << (*plan)->description().kernel << ": " << result.status.message();
}

INSTANTIATE_TEST_SUITE_P(Problems, Transposed,
                         ::testing::Values("fwd bf16 NCHW n2 c64 k64 i14x14 f3x3 p1 +bias+relu",
                                           "fwd e4m3>bf16 NCHW n1 c80 k24 i13x7 f3x3 p1",           // 1 and 2 bytes
                                           "fwd bf16>fp32 NCHW n1 c64 k65 i9x9 f3x3 p1 +residual",  // 2 and 4 bytes
                                           "bwd_data bf16 NCHW n2 c72 k40 i9x11 f3x3 s2 p1",
                                           "bwd_weight bf16 NCHW n2 c64 k72 i10x10 f1x1"));  // the filter stays

TEST(TransposedChoice, OnlyWhereItPaysAndFits) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const auto reason = [&](const char* text, const PlanOptions& options) {
    const auto plan = make_plan(*device, problem_of(text), options);
    return plan.ok() ? (*plan)->description().reason : plan.status().message();
  };
  constexpr const char* kLarge = "fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1";
  EXPECT_THAT(reason(kLarge, {.tuning = Tuning::kOff}), HasSubstr("transpositions"));
  EXPECT_THAT(reason(kLarge, {.workspace_limit = 0, .tuning = Tuning::kOff}), Not(HasSubstr("transpositions")));
  EXPECT_THAT(reason("fwd bf16 NCHW n8 g64 c64 k64 i28x28 f3x3 p1", {.tuning = Tuning::kOff}),
              Not(HasSubstr("transpositions")));
}

// One row or one column lies in memory the same either way.
TEST(TransposedChoice, MovesOnlyWhatChanges) {
  EXPECT_EQ(transposition_bytes(problem_of("fwd bf16 NCHW n4 c1 k1 i16x16 f3x3 p1")), 0);
  EXPECT_EQ(transposition_bytes(problem_of("fwd bf16 NCHW n4 c64 k1 i16x16 f1x1")), 4 * 64 * 256 * 2);
}

// A kernel asked for by its channels-last name serves the channels-first problem, and its workspace is checked.
TEST(TransposedPlan, ByNameAndWithoutAWorkspace) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of("fwd bf16 NCHW n1 c64 k64 i8x8 f3x3 p1");
  const auto inner = make_plan(*device, channels_last(problem), {.tuning = Tuning::kOff});
  ASSERT_TRUE(inner.ok()) << inner.status().message();
  const auto plan = make_plan(*device, problem, {.kernel = (*inner)->description().kernel});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_THAT((*plan)->description().reason, HasSubstr("transpositions: asked for by name"));
  TensorPointers tensors;
  tensors[Tensor::kX] = tensors[Tensor::kW] = tensors[Tensor::kY] = &tensors;
  EXPECT_THAT((*plan)->execute(tensors, nullptr).message(), HasSubstr("bytes of workspace, but a pointer is null"));
}

}  // namespace
}  // namespace wt
