// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/epilogue/activations_test.cc - every activation and its gradient from a problem's text to a result on
// random data, on the CPU and in a simulated kernel, within the reference's bounds.
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

void expect_right(const char* id, const std::string& steps) {
  const auto device = open_device(id);
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of("bwd_data fp32 n1 c8 k8 i7x7 f3x3 p1 " + steps);
  TrialOptions options;
  options.time = false;
  const TrialResult result = run_trial(*device, problem, options);
  EXPECT_TRUE(result.verified) << id << " " << to_text(problem) << ": " << result.status.message();
}

class Activations : public testing::TestWithParam<Activation> {
 protected:
  // Bounds and slope for those that have them, which random data crosses.
  static std::string step(const char* before) {
    std::string text = std::string(before) + name_of(GetParam());
    if (GetParam() == Activation::kLeakyRelu) text += "=0.3";
    if (GetParam() == Activation::kClamp) text += "=-0.5:0.5";
    return text;
  }
};

TEST_P(Activations, OnTheCpu) {
  expect_right("cpu", step("+bias+"));
  expect_right("cpu", step("+add=0.5+grad_"));
}

TEST_P(Activations, InAKernel) {
  expect_right("sim:sm_80", step("+bias+"));
  expect_right("sim:sm_80", step("+grad_"));
}

std::vector<Activation> all_activations() {
  std::vector<Activation> all;
  for (const ActivationFacts& facts : kActivations)
    if (facts.activation != Activation::kNone) all.push_back(facts.activation);
  return all;
}
INSTANTIATE_TEST_SUITE_P(All, Activations, testing::ValuesIn(all_activations()),
                         [](const auto& tested) { return std::string(name_of(tested.param)); });

}  // namespace
}  // namespace wt
