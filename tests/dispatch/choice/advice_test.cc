// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/choice/advice_test.cc - what of a layer to change, and what that is worth.
#include "dispatch/choice/advice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dispatch/choice/filter.h"
#include "dispatch/plan/transposed.h"
#include "launch/rates.h"
#include "problem/traffic.h"

namespace wt {
namespace {

using testing::AllOf;
using testing::HasSubstr;

DeviceInfo hopper() { return usual_device(Target::kSm90a); }

std::vector<Advice> advised(const char* text) { return advice_for(hopper(), *parse_problem(text), {}); }

double predicted(const ConvProblem& problem) {
  const Result<Decision> decision = decide(hopper(), problem, {.tuning = Tuning::kOff});
  return decision.ok() ? decision->expected_us() : 0;
}

// Each is the decision's own time for the layer that it names, and pays.
TEST(Advice, IsWhatWouldBeDecided) {
  for (const char* text : {"fwd bf16 n16 c50 k50 i56x56 f3x3 p1", "fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1",
                           "fwd fp32 NCHW n8 c64 k64 i56x56 f3x3 p1", "bwd_data bf16 n16 c12 k36 i100x100 f3x3 p1"}) {
    const ConvProblem problem = *parse_problem(text);
    const double now = predicted(problem);
    const std::vector<Advice> list = advised(text);
    EXPECT_FALSE(list.empty()) << text;
    double before = 0;
    for (const Advice& advice : list) {
      EXPECT_TRUE(validate(advice.problem).ok()) << text;
      EXPECT_DOUBLE_EQ(advice.us, predicted(advice.problem)) << text << ": " << advice.change;
      EXPECT_DOUBLE_EQ(advice.share, advice.us / now);
      EXPECT_LE(advice.share, kWorthIt) << text << ": " << advice.change;
      EXPECT_GE(advice.us, before) << "the fastest comes first";
      before = advice.us;
    }
  }
}

TEST(Advice, NamesLayoutTypeAndChannels) {
  const auto changes = [](const char* text) {
    std::string all;
    for (const Advice& advice : advised(text)) all += advice.change + "\n";
    return all;
  };
  EXPECT_THAT(changes("fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1"), HasSubstr("NHWC instead of NCHW"));
  EXPECT_THAT(changes("fwd fp32 n8 c64 k64 i56x56 f3x3 p1"),
              AllOf(HasSubstr("tf32 instead of fp32"), HasSubstr("bf16 instead of fp32")));
  EXPECT_THAT(changes("fwd bf16 n16 c50 k50 i56x56 f3x3 p1"), HasSubstr("zeros in the added channels"));
}

// A layer that kernels are made for has nothing to gain, and the CPU no predictions to compare.
TEST(Advice, IsSilentWhereNothingPays) {
  EXPECT_TRUE(advised("fwd bf16 n16 c256 k256 i56x56 f3x3 p1").empty());
  DeviceInfo cpu;
  cpu.kind = DeviceKind::kCpu;
  EXPECT_TRUE(advice_for(cpu, *parse_problem("fwd fp32 NCHW n1 c12 k12 i9x9 f3x3 p1"), {}).empty());
}

TEST(Advice, KnowsTheLimitAndTheWorkspace) {
  const Rates rates = rates_of(hopper());
  const ConvProblem copies = *parse_problem("fwd bf16 n16 g256 c256 k256 i56x56 f1x1");
  EXPECT_DOUBLE_EQ(limit_us(copies, rates), tensor_bytes(copies) / rates.memory);
  const ConvProblem products = *parse_problem("fwd bf16 n16 c1024 k1024 i56x56 f3x3 p1");
  EXPECT_GT(limit_us(products, rates), tensor_bytes(products) / rates.memory);
  EXPECT_LE(limit_us(products, rates), predicted(products));

  const Result<Decision> turned = decide(hopper(), *parse_problem("fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1"), {});
  ASSERT_TRUE(turned.ok());
  ASSERT_EQ(turned->kind, Decision::Kind::kTransposed);
  EXPECT_GE(workspace_bytes(*turned, hopper()), transposition_bytes(turned->problem));
}

}  // namespace
}  // namespace wt
