// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/epilogue/user_epilogue_test.cc - the user's text from a problem to a result: on simulators of every
// maker, on the CPU, in a pack's absence, and where it does not compile.
#include <gmock/gmock.h>
#include <stdlib.h>

#include "config/signature.h"
#include "config/user_text.h"
#include "generate/source.h"
#include "problem/number.h"
#include "tests/dispatch/user_epilogue_steps.h"

namespace wt {
namespace {

using testing::HasSubstr;

std::shared_ptr<Device> open(const char* id) {
  const auto device = open_device(id);
  EXPECT_TRUE(device.ok()) << device.status().message();
  return *device;
}

TEST(UserEpilogue, ExpressionInKernelsOfEveryMaker) {
  expect_each("sim:sm_80", "bwd_weight bf16 n1 c16 k24 i9x7 f3x3 p1", kAllSteps);
  expect_each("sim:gfx942", "fwd bf16 n1 c64 k72 i5x3 f3x3 p1", kAllSteps);
}

TEST(UserEpilogue, StoreInKernelsOfEveryMaker) { expect_each("sim:gfx942", "fwd bf16 n1 c64 k72 i5x3 f1x1", kStores); }

// Channels-first problems between transpositions: the auxiliary tensors are turned too, and coordinates stay the
// user's.
TEST(UserEpilogue, TransposedPlans) {
  const auto device = open("sim:sm_90a");
  const ConvProblem problem = problem_of("fwd bf16 n2 c8 k24 i5x6 f3x3 p1 NCHW" + std::string(kAllSteps[0]));
  const KernelConfig last =
      one_of_each(problem_of("fwd bf16 n2 c8 k24 i5x6 f3x3 p1" + std::string(kAllSteps[0])), Target::kSm90a).front();
  TrialOptions options;
  options.exact = true;
  options.time = false;
  options.plan.kernel = name_of(last);
  const TrialResult result = run_trial(device, problem, options);
  EXPECT_TRUE(result.verified) << result.status.message();
  EXPECT_THAT(result.plan.reason, HasSubstr("transpositions"));
}

TEST(UserEpilogue, Cpu) {
  const auto device = open("cpu");
  for (const char* kernel : {"builtin", ""}) {
    for (const char* text : {"fwd bf16 n2 c6 k10 g2 i5x6 f3x3 p1", "bwd_data fp32 n1 c8 k8 g8 i9 f3 p1 NCW",
                             "bwd_weight fp16 n1 c6 k4 i5x4x3 f3x1x3 p1"}) {
      for (const auto* steps : {&kAllSteps, &kStores}) {
        const size_t which = std::string_view(text).starts_with("bwd_weight");
        const ConvProblem problem = problem_of(std::string(text) + (*steps)[which]);
        TrialOptions options;
        options.exact = true;
        options.time = false;
        options.plan.kernel = kernel;
        const TrialResult result = run_trial(device, problem, options);
        EXPECT_TRUE(result.verified) << to_text(problem) << ": " << result.status.message();
      }
    }
  }
}

// The reference that a GPU computes for large problems gathers auxiliary tensors and calls the text too.
TEST(UserEpilogue, DeviceReference) {
  const auto device = open("sim:sm_80");
  const ConvProblem problem = problem_of("fwd bf16 n1 c8 k8 i4x4 f3x3 p1" + std::string(kAllSteps[0]));
  auto tensors = TrialTensors::make(device, problem, true, 3);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  const auto plan = make_plan(device, problem, {});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  ASSERT_TRUE((*plan)->execute((*tensors)->pointers(), nullptr).ok());
  const ErrorModel model{.exact = true};
  const auto right = (*tensors)->device_reference({.model = model});
  ASSERT_TRUE(right.ok()) << right.status().message();
  const auto report = (*right)->compare((*tensors)->pointers(), model);
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_TRUE(report->passed()) << report->summary();
  EXPECT_EQ(report->compared, problem.output_elements());
}

// A store that writes elsewhere: rows upside down.
TEST(UserEpilogue, StoreScatters) {
  const ConvProblem problem =
      problem_of("fwd bf16 n1 c8 k8 i4x4 f1x1 +store=\"out.put_at(((3 - at.h) * 4 + at.w) * 8 + at.channel, value)\"");
  const ConvProblem plain = problem_of("fwd bf16 n1 c8 k8 i4x4 f1x1");
  const auto device = open("sim:sm_80");
  const auto run = [&](const ConvProblem& p) {
    TrialOptions options;
    options.exact = true;
    options.time = false;
    const auto plan = make_plan(device, p, {});
    EXPECT_TRUE(plan.ok()) << plan.status().message();
    auto tensors = TrialTensors::make(device, p, true, 1);
    const TrialResult result = run_trial(**tensors, **plan, options);
    EXPECT_TRUE(result.verified) << result.status.message();
    return std::move(*tensors);
  };
  const auto turned = run(problem), straight = run(plain);
  for (int64_t i = 0; i < 4 * 4 * 8; ++i) {
    const int64_t row = i / 32, other = (3 - row) * 32 + i % 32;
    EXPECT_EQ(load(DataType::kBf16, turned->host().y.data(), other),
              load(DataType::kBf16, straight->host().y.data(), i));
  }
}

TEST(UserEpilogue, FaultsPointAtTheUsersLine) {
  for (const char* id : {"sim:sm_80", "cpu"}) {
    const auto plan = make_plan(
        open(id),
        problem_of("fwd bf16 c8 k8 i4x4 +f=\"float f(float acc, Coord at, Inputs in) {\\n  return oops;\\n}\""), {});
    ASSERT_FALSE(plan.ok());
    EXPECT_EQ(plan.status().code(), Code::kCompile);
    EXPECT_THAT(plan.status().message(), HasSubstr("epilogue f:2:"));
    EXPECT_THAT(plan.status().message(), HasSubstr("oops"));
  }
}

TEST(UserEpilogue, NoHostCompilerIsSaid) {
  ::setenv("WAVETILE_CXX", "/nonexistent/c++", 1);
  const auto plan = make_plan(open("cpu"), problem_of("fwd bf16 c8 k8 i4x4 +f=\"acc + 41\""), {});
  ::unsetenv("WAVETILE_CXX");
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.status().message(),
              HasSubstr("the user's epilogue text runs on the CPU by the host's C++ compiler"));
  EXPECT_THAT(plan.status().message(), HasSubstr("/nonexistent/c++"));
}

TEST(UserEpilogue, TextsMakeNamesAndSources) {
  const KernelConfig plain = config_for(problem_of("fwd bf16 c8 k8 i4x4"), Target::kSm80);
  const KernelConfig one = config_for(problem_of("fwd bf16 c8 k8 i4x4 +f=\"acc + 1\""), Target::kSm80);
  const KernelConfig two = config_for(problem_of("fwd bf16 c8 k8 i4x4 +f=\"acc + 2\""), Target::kSm80);
  EXPECT_NE(name_of(one), name_of(two));
  EXPECT_EQ(one.epilogue.user_hash,
            config_for(problem_of("fwd bf16 c8 k8 i4x4 +f=\"acc + 1\""), Target::kSm80).epilogue.user_hash);
  EXPECT_THAT(*generate_source(one), HasSubstr("#line 1 \"epilogue f\"\nacc + 1\n"));
  EXPECT_THAT(*generate_source(plain), testing::Not(HasSubstr("user")));
  EXPECT_EQ(signature_difference(one, problem_of("fwd bf16 c8 k8 i4x4 +f=\"acc + 1\"")), "");
  EXPECT_THAT(signature_difference(one, problem_of("fwd bf16 c8 k8 i4x4 +f=\"acc + 2\"")), HasSubstr("user_hash"));
  KernelConfig unknown = one;
  unknown.epilogue.user_hash = 12345;
  EXPECT_THAT(generate_source(unknown).status().message(),
              HasSubstr("0000000000003039, which no problem of this process holds"));
}

}  // namespace
}  // namespace wt
