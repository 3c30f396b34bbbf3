// SPDX-License-Identifier: Apache-2.0
// The command with generated kernels, which the simulator runs: each test compiles some with the host compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "base/format.h"
#include "tests/cli/subprocess.h"

namespace wt::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

TEST(SimulatedRun, VerifiesAndClaimsNoSpeed) {
  const Outcome outcome = wavetile({"run", "fwd bf16 n1 c16 k16 i6x6 f3x3 p1", "--device", "sim:sm_90a", "--exact"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("kernel    wt_fwd_bf16"), HasSubstr("verified  yes, all 576 elements"),
                                 HasSubstr("which says nothing about a GPU's speed"), Not(HasSubstr("GFLOP/s"))));
}

TEST(SimulatedRun, TakesAKernelThatExplainNames) {
  const Outcome explained = wavetile({"explain", "fwd fp32 n1 c5 k7 i6x6 f3x3 p1", "--target", "sm_80", "--json"});
  ASSERT_EQ(explained.exit_code, 0) << explained.err;
  const Json json = Json::parse(explained.out);
  ASSERT_GT(json["accepting"], 0);
  const std::string kernel = json["candidates"][0]["name"];
  const Outcome outcome =
      wavetile({"run", "fwd fp32 n1 c5 k7 i6x6 f3x3 p1", "--device", "sim:sm_80", "--kernel", kernel});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr(kernel));
}

TEST(SimulatedRun, RefusesAKernelThatIsNotThere) {
  const Outcome outcome =
      wavetile({"run", "fwd bf16 n1 c16 k16 i6x6 f3x3 p1", "--device", "sim:sm_90a", "--kernel", "wt_no_such_kernel"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("wt_no_such_kernel"));
}

// Two channels a group share an instruction, which zeros do not keep apart from a NaN.
TEST(SimulatedBench, ShowsTheStrictChoiceBesideOneForFiniteInputs) {
  const std::string problem = "fwd bf16 n1 c16 k16 g8 i7x7 f3x3 p1";
  const Outcome outcome = wavetile({"bench", problem, "--device", "sim:sm_90a", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json row = Json::parse(outcome.out)["rows"][0];
  EXPECT_EQ(row["finite_only"], true);
  ASSERT_TRUE(row.contains("strict_nonfinite"));
  const Json& strict = row["strict_nonfinite"];
  EXPECT_EQ(strict["finite_only"], false);
  EXPECT_EQ(strict["verification"]["verified"], true);
  EXPECT_THAT(strict["replay"], HasSubstr("--strict-nonfinite"));

  const Outcome explained = wavetile({"explain", problem, "--target", "sm_90a", "--json"});
  EXPECT_EQ(Json::parse(explained.out)["strict_nonfinite"]["name"], strict["kernel"]);
  const Outcome alone = wavetile({"bench", problem, "--device", "sim:sm_90a", "--strict-nonfinite"});
  EXPECT_EQ(alone.exit_code, 0) << alone.err;
  EXPECT_THAT(alone.out, AllOf(HasSubstr(strict["kernel"].get<std::string>()), Not(HasSubstr("    strict"))));
}

// Blocks that add to one sum do so in any order.
TEST(SimulatedRun, TakesAtomicSumsOnRequestAlone) {
  const std::string problem = "bwd_weight bf16 n4 c64 k64 i8x8 f1x1";
  const Outcome declined = wavetile({"search", problem, "--device", "sim:sm_90a", "--kernels", "split_atomic"});
  EXPECT_EQ(declined.exit_code, 3) << declined.out;
  const Outcome outcome = wavetile({"search", problem, "--device", "sim:sm_90a", "--kernels", "split_atomic", "--best",
                                    "1", "--nondeterministic", "--exact", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json kernel = Json::parse(outcome.out)["problems"][0]["kernels"][0];
  EXPECT_EQ(kernel["verification"]["verified"], true);
  EXPECT_THAT(kernel["kernel"].get<std::string>(), HasSubstr("split_atomic"));
}

TEST(SimulatedRun, SearchesTheNamedKernelsAlone) {
  const std::string problem = "fwd bf16 n1 c32 k24 i6x6 f3x3 p1";
  const Json all = Json::parse(wavetile({"explain", problem, "--target", "sm_90a", "--json", "--all"}).out);
  std::vector<std::string> accepting;
  for (const Json& candidate : all["candidates"])
    if (candidate["accepts"]) accepting.push_back(candidate["name"]);
  ASSERT_GT(accepting.size(), 2u);
  const std::filesystem::path names = std::filesystem::temp_directory_path() / fmt::format("names.{}", ::getpid());
  ASSERT_TRUE(write_file(names, accepting.back() + "\n").ok());
  const Outcome outcome = wavetile({"search", "fwd bf16 n1 c1 k1 i4 f1", problem, "--device", "sim:sm_90a", "--names",
                                    names.string(), "--exact", "--no-time", "--json", "-"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.err;  // the first problem has none of them
  EXPECT_THAT(outcome.err, HasSubstr("of the 1 that were named accepts"));
  const Json problems = Json::parse(outcome.out)["problems"];
  ASSERT_EQ(problems.size(), 1u);
  ASSERT_EQ(problems[0]["kernels"].size(), 1u);
  EXPECT_EQ(problems[0]["kernels"][0]["kernel"], accepting.back());
  EXPECT_EQ(problems[0]["kernels"][0]["verification"]["verified"], true);
  std::filesystem::remove(names);
}

TEST(Preview, ShowsTheGpuKernelOfEveryDirectionAndSimulatesIt) {
  const Outcome outcome = wavetile({"bench", "fwd bf16 n4 c64 k64 i56x56 f3x3 p1", "--direction", "all", "--device",
                                    "cpu", "--repeat", "1", "--json", "-"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["rows"].size(), 3u);
  for (const Json& row : json["rows"]) {
    const Json& preview = row["preview"];
    EXPECT_EQ(preview["target"], "sm_90a");
    EXPECT_EQ(preview["decision"]["kernel"], preview["kernel"]);
    EXPECT_EQ(preview["simulated"]["device"], "sim:sm_90a");
    EXPECT_EQ(preview["simulated"]["kernel"], preview["kernel"]);
    EXPECT_EQ(preview["simulated"]["verification"]["verified"], true);
    EXPECT_EQ(preview["simulated"]["direction"], row["direction"]);
    EXPECT_FALSE(preview["simulated"].contains("timing"));
    if (preview["compiled"]) {
      EXPECT_GT(preview["registers"], 0);
    } else {
      EXPECT_TRUE(preview.contains("compile_error"));
    }
  }
}

TEST(Preview, IsALineBelowTheRow) {
  const Outcome outcome = wavetile({"bench", "fwd bf16 n2 c16 k16 i12x12 f3x3 p1", "--device", "cpu", "--repeat", "1"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("\n    sm_90a: wt_fwd_bf16"), HasSubstr("simulated verified in"),
                                 HasSubstr("1 of 1 GPU kernels simulated and verified")));
}

}  // namespace
}  // namespace wt::cli::testing
