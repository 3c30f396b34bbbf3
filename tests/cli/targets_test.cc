// SPDX-License-Identifier: Apache-2.0
// The commands that speak of GPUs which are not here: machine code checked, and suites explained for every target.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/cli/subprocess.h"

namespace wt::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

TEST(TargetsCommand, AnAbsentCompilerIsARowAndNoFailure) {
  const Outcome outcome = run({.arguments = {"targets", "--target", "gfx942", "--target", "gfx1201"},
                               .environment = {{"WAVETILE_CLANG", "no-such-clang"}}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("gfx942"), HasSubstr("gfx1201"), HasSubstr("not compiled here: needs clang 17 or newer"),
                    HasSubstr("\ngfx942:\n  WAVETILE_CLANG=no-such-clang is not an executable file")));
}

TEST(TargetsCommand, RefusesASimulatedTargetAndAPageWithoutATable) {
  const Outcome simulated = wavetile({"targets", "--target", "sim:gfx942"});
  EXPECT_EQ(simulated.exit_code, 2);
  EXPECT_THAT(simulated.err, HasSubstr("machine code is made for GPUs"));
  const std::string page = (std::filesystem::path(::testing::TempDir()) / "wavetile_no_table.md").string();
  ASSERT_TRUE(write_file(page, "# Nothing\n").ok());
  const Outcome update =
      run({.arguments = {"targets", "--target", "gfx942", "--kernels", "nothing", "--update", page}});
  EXPECT_EQ(update.exit_code, 2);
  EXPECT_THAT(update.err, HasSubstr("has no lines '<!-- table: wavetile targets"));
}

#if WT_HAVE_CLANG
TEST(TargetsCommand, FindsTheMatrixInstructionInMachineCode) {
  const Outcome outcome =
      wavetile({"targets", "--target", "gfx942", "--kernels", "bf16_nhwc_gfx942_four_wave", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  const Json& kernels = json["targets"][0]["kernels"];
  ASSERT_EQ(kernels.size(), 10u) << "by three loaders forward, of bf16 and e4m3, and in backward data; and of weights";
  for (const Json& kernel : kernels) {
    EXPECT_TRUE(kernel["good"]) << kernel;
    EXPECT_THAT(kernel["instruction"].get<std::string>(), HasSubstr("v_mfma_f32_"));
    EXPECT_GE(kernel["instructions"].get<int>(), 16) << kernel;
    EXPECT_EQ(kernel["spill_bytes"], 0);
    EXPECT_GT(kernel["registers"].get<int>(), 0);
  }
}

TEST(TargetsCommand, WritesTheTableOfAPage) {
  const std::string page = (std::filesystem::path(::testing::TempDir()) / "wavetile_targets.md").string();
  const std::string start = "<!-- table: wavetile targets --update docs/targets.md -->",
                    end = "<!-- end of the table -->";
  ASSERT_TRUE(write_file(page, "before\n" + start + "\nold\n" + end + "\nafter\n").ok());
  const Outcome outcome =
      wavetile({"targets", "--target", "gfx1201", "--kernels", "fwd_bf16_nhwc_gfx1201_basic", "--update", page});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto text = read_file(page);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, AllOf(HasSubstr("before\n" + start + "\n\n| target |"), HasSubstr(end + "\nafter\n")));
  EXPECT_THAT(*text, HasSubstr("\n| gfx1201 | basic_v1 | bf16 | 1 | v_wmma_f32_16x16x16 |"));
  EXPECT_EQ(text->find("old"), std::string::npos);
}
#endif  // WT_HAVE_CLANG

TEST(ExplainSuite, SaysForEachTargetWhatTakesEachLayer) {
  const Outcome outcome = wavetile({"explain", "retinanet37", "--target", "gfx942", "--target", "sm_80", "--direction",
                                    "fwd", "--filter", "*1", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["targets"].size(), 2u);
  for (const Json& target : json["targets"]) {
    ASSERT_FALSE(target["problems"].empty());
    for (const Json& problem : target["problems"]) {
      ASSERT_FALSE(problem["accepting"].empty()) << problem["problem"];
      EXPECT_EQ(problem["chosen"], problem["accepting"][0]["name"]);
      EXPECT_THAT(problem["because"].get<std::string>(), HasSubstr("predicted"));
      for (const Json& reason : problem["declining"]) EXPECT_NE(reason["message"], "");
    }
  }
  const Outcome text =
      wavetile({"explain", "retinanet37", "--target", "gfx942", "--direction", "fwd", "--filter", "*1"});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("  chosen     wt_fwd_bf16"), HasSubstr("  because    predicted "),
                    HasSubstr("  accepting  "), HasSubstr("  declining  "), HasSubstr("gfx942: chosen for ")));
}

TEST(ExplainSuite, KeepsOptionsOfSuitesFromProblems) {
  const Outcome outcome = wavetile({"explain", "fwd bf16 n1 c8 k8 i8x8 f1x1", "--filter", "x"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("are for suites"));
}

}  // namespace
}  // namespace wt::cli::testing
