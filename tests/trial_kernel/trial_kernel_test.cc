// SPDX-License-Identifier: Apache-2.0
// tests/trial_kernel/trial_kernel_test.cc - a kernel is one folder and one line: this folder is listed, explained,
// generated, compiled and run like any other.
#include <gmock/gmock.h>

#include <filesystem>

#include "dispatch/choice/candidates.h"
#include "generate/source.h"
#include "kernels/kind.h"
#include "rules/rules.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/tuning_scratch.h"

namespace wt {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// The checkout with this folder as src/kernels/trial, for the compiler.
class TrialKernel : public testing::Test {
 protected:
  void SetUp() override {
    const fs::path here = fs::path(WT_TRIAL_KERNEL), source = here.parent_path().parent_path() / "src";
    const fs::path kernels = folder_.path() / "src" / "kernels";
    fs::create_directories(kernels);
    for (const auto& entry : fs::directory_iterator(source)) {
      if (entry.path().filename() != "kernels")
        fs::create_directory_symlink(entry.path(), kernels.parent_path() / entry.path().filename());
    }
    for (const auto& entry : fs::directory_iterator(source / "kernels"))
      fs::create_symlink(entry.path(), kernels / entry.path().filename());
    fs::create_directory_symlink(here, kernels / "trial");
    ::setenv("WAVETILE_SOURCE_DIR", folder_.path().c_str(), 1);
  }
  void TearDown() override { ::unsetenv("WAVETILE_SOURCE_DIR"); }

  tuning::ScratchFolder folder_;
};

TEST_F(TrialKernel, IsListedLikeAnyOther) {
  EXPECT_TRUE(std::ranges::any_of(kernel_kinds(), [](const KernelKind* kind) { return kind->id == Kind::kTrial; }));
  const ConvProblem problem = problem_of("fwd bf16 n2 c5 k7 i6x5 f3x3 p1");
  const auto candidates = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
  const auto trial =
      std::ranges::find(candidates, Kind::kTrial, [](const RankedCandidate& c) { return c.config.kind; });
  ASSERT_NE(trial, candidates.end());
  EXPECT_TRUE(trial->accepts());
  EXPECT_THAT(trial->name, HasSubstr("_sm90a_trial"));
  const auto grouped =
      rank_candidates(problem_of("fwd bf16 n2 c6 k8 g2 i6x5 f3x3 p1"), Target::kSm90a, {}, Breadth::kAll);
  const auto declined =
      std::ranges::find(grouped, Kind::kTrial, [](const RankedCandidate& c) { return c.config.kind; });
  ASSERT_NE(declined, grouped.end());
  EXPECT_EQ(declined->declines.front().id, "trial-groups");
  EXPECT_THAT(*generate_source(trial->config), HasSubstr("kernels/trial/device/kernel.h"));
}

TEST_F(TrialKernel, RunsInTheSimulator) {
  for (const char* text : {"fwd bf16 n2 c5 k7 i6x5 f3x3 s2x1 p1 +bias+relu", "fwd fp32 n1 c3 k4 i9 f4 d2 p3",
                           "fwd fp16 n1 c4 k3 i4x5x3 f2x3x1 p1x0x0 NCDHW"}) {
    const ConvProblem problem = problem_of(text);
    const KernelConfig config = first_kernel(problem, [](const KernelConfig& c) { return c.kind == Kind::kTrial; });
    expect_exact(simulated_hopper(), problem, config);
  }
}

}  // namespace
}  // namespace wt
