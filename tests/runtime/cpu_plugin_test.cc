// SPDX-License-Identifier: Apache-2.0
// tests/runtime/cpu_plugin_test.cc - the oneDNN plug-in absent, broken or replaced; older CPUs' kernels.
#include <cstdlib>

#include "runtime/cpu/kernels.h"
#include "tests/runtime/cpu_run.h"

namespace wt {
namespace {

ConvProblem problem_with(Direction direction, Layout layout, int64_t g) {
  ConvProblem problem;
  problem.direction = direction;
  problem.layout = layout;
  problem.x = problem.w = problem.y = DataType::kF32;
  problem.n = 2, problem.g = g, problem.c = 24, problem.k = 24;
  problem.in = {1, 11, 9};
  problem.filter = {1, 3, 3};
  problem.stride = {1, 2, 1};
  problem.pad_lower = {0, 1, 1};
  problem.pad_upper = {0, 1, 0};
  return problem;
}

// Runs in a process of its own, since a plug-in and a kernel set are chosen once a process. 0: all as expected.
int run_all(const std::string& path_starts_with) {
  for (const Direction direction : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight})
    for (const Layout layout : {Layout::kChannelsLast, Layout::kChannelsFirst})
      for (const int64_t g : {1, 4, 24}) {
        const ConvProblem problem = problem_with(direction, layout, g);
        auto prepared = prepare_cpu(problem);
        if (!prepared.ok() || !(*prepared)->path().starts_with(path_starts_with)) return 2;
        run_and_verify(problem, {}, Fill::kExact);
      }
  return testing::Test::HasFailure() ? 1 : 0;
}

class CpuPlugin : public testing::Test {
 protected:
  CpuPlugin() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

TEST_F(CpuPlugin, AbsentIsSaidOnceAndTheBuiltinPathRuns) {
  EXPECT_EXIT(
      {
        setenv("WAVETILE_ONEDNN_PROVIDER", "/nonexistent/libwavetile_onednn.so", 1);
        setenv("WAVETILE_LOG", "warn", 1);
        std::exit(run_all("builtin"));
      },
      testing::ExitedWithCode(0), "could not be loaded.*nonexistent.*libdnnl");
}

TEST_F(CpuPlugin, AbsentShowsInTheDescription) {
  EXPECT_EXIT(
      {
        setenv("WAVETILE_ONEDNN_PROVIDER", "/nonexistent/libwavetile_onednn.so", 1);
        const std::string text = cpu_provider_description();
        std::exit(text.starts_with("built-in ") && text.find("libdnnl-dev") != std::string::npos ? 0 : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(CpuPlugin, OlderKernelsAgree) {
  for (const char* kernels : {"portable", "x86-64-v3"})
    EXPECT_EXIT(
        {
          setenv("WAVETILE_ONEDNN_PROVIDER", "/nonexistent/libwavetile_onednn.so", 1);
          setenv("WAVETILE_CPU_KERNELS", kernels, 1);
          std::exit(run_all("builtin"));
        },
        testing::ExitedWithCode(0), "");
}

TEST_F(CpuPlugin, ForcedOnednnFailsWithTheRemedy) {
  EXPECT_EXIT(
      {
        setenv("WAVETILE_ONEDNN_PROVIDER", "/nonexistent/libwavetile_onednn.so", 1);
        auto prepared =
            prepare_cpu(problem_with(Direction::kForward, Layout::kChannelsLast, 1), {.path = CpuPath::kOnednn});
        std::exit(!prepared.ok() && prepared.status().code() == Code::kUnsupported &&
                          prepared.status().message().find("libdnnl") != std::string::npos
                      ? 0
                      : 1);
      },
      testing::ExitedWithCode(0), "");
}

TEST_F(CpuPlugin, RefusesWhatIsNoPlugin) {
  const auto missing = cpu::load_onednn({});
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.status().message().find("libwavetile_onednn.so not found"), std::string::npos);
  const auto other = cpu::load_onednn({"libm.so.6"});
  ASSERT_FALSE(other.ok());
  EXPECT_NE(other.status().message().find("has no symbol wavetile_onednn_provider"), std::string::npos)
      << other.status().message();
}

TEST_F(CpuPlugin, LoadedIsNamedInTheDescription) {
  if (!cpu::onednn_plugin().provider) GTEST_SKIP() << cpu::onednn_plugin().fault;
  EXPECT_TRUE(cpu_provider_description().starts_with("oneDNN ")) << cpu_provider_description();
  EXPECT_NE(cpu_provider_description().find("libwavetile_onednn.so"), std::string::npos);
}

}  // namespace
}  // namespace wt
