// SPDX-License-Identifier: Apache-2.0
// tests/cli/decision_slow_test.cc - explain names what a plan runs in the simulator, whose kernels are compiled.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "cli/commands/explain.h"
#include "dispatch/plan/plan.h"
#include "problem/random_problem.h"

namespace wt {
namespace {

TEST(SimulatedDecisions, ExplainNamesWhatAPlanRuns) {
  Random random(23);
  for (const char* id : {"sim:sm_90a", "sim:sm_80", "sim:gfx942"}) {
    const auto device = open_device(id);
    ASSERT_TRUE(device.ok()) << device.status().message();
    for (int i = 0; i < 3; ++i) {
      const ConvProblem problem = random_problem(random);
      const auto plan = make_plan(*device, problem, {});
      ASSERT_TRUE(plan.ok()) << to_text(problem) << ": " << plan.status().message();
      cli::ExplainOptions options;
      options.problem = to_text(problem);
      options.device = id;
      options.json = "-";
      testing::internal::CaptureStdout();
      EXPECT_EQ(cli::run_explain(options), 0);
      const auto json = nlohmann::json::parse(testing::internal::GetCapturedStdout());
      EXPECT_EQ(json["chosen"], (*plan)->description().kernel) << id << ": " << to_text(problem);
    }
  }
}

}  // namespace
}  // namespace wt
