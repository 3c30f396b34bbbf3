// SPDX-License-Identifier: Apache-2.0
// What `generate` configures can be run, searched, tuned, packed and asked about, whether a rule set lists it or not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "tests/cli/subprocess.h"

namespace wt::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::wavetile;

constexpr const char* kProblem = "fwd bf16 n1 c16 k32 i7x9 f3x3 p1";
constexpr const char* kTile = "portable_compv3_t64x32x32_w2x1x1";

class OwnKernels : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(::testing::TempDir()) / ("wavetile_own." + std::to_string(::getpid()));
    const testing::Outcome listed = wavetile(
        {"generate", "--list", "--format", "json", "--target", "sm_80", "--pipeline", "compv3", "--tile-m",   "64",
         "--tile-n", "32",     "--tile-k", "32",   "--warp-m", "2",     "--warp-n",   "1",      "--vector-a", "8"});
    ASSERT_EQ(listed.exit_code, 0) << listed.err;
    ASSERT_TRUE(write_file(file(), listed.out).ok());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file() const { return (folder_ / "kernel.json").string(); }
  std::filesystem::path folder_;
};

TEST_F(OwnKernels, RunSearchTuneAndExplainTakeAFile) {
  const testing::Outcome ran = wavetile({"run", kProblem, "--device", "sim:sm_80", "--exact", "--kernel", file()});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr(kTile), HasSubstr("configured by the caller"), HasSubstr("--kernel '{")));
  const testing::Outcome searched =
      wavetile({"search", kProblem, "--device", "sim:sm_80", "--exact", "--kernel", file(), "--no-progress"});
  EXPECT_EQ(searched.exit_code, 0) << searched.err;
  EXPECT_THAT(searched.out, AllOf(HasSubstr(kTile), HasSubstr("1 kernels right, 0 wrong, 0 failed")));
  const testing::Outcome tuned =
      wavetile({"tune", kProblem, "--device", "sim:sm_80", "--kernel", file(), "--no-progress", "--json", "-"});
  EXPECT_EQ(tuned.exit_code, 0) << tuned.err;
  EXPECT_THAT(tuned.out, HasSubstr(kTile));
  const testing::Outcome asked = wavetile({"explain", kProblem, "--target", "sm_80", "--kernel", file()});
  EXPECT_EQ(asked.exit_code, 0) << asked.err;
  EXPECT_THAT(asked.out, HasSubstr("supported  yes"));
  const testing::Outcome declined =
      wavetile({"explain", "fwd bf16 n1 c12 k32 i7x9 f3x3 p1", "--target", "sm_80", "--kernel", file()});
  EXPECT_EQ(declined.exit_code, 3);
  EXPECT_THAT(declined.out, AllOf(HasSubstr("supported  no"), HasSubstr("portable-vector")));
}

TEST_F(OwnKernels, RegisteredKernelsCompete) {
  const testing::Outcome high = wavetile({"explain", kProblem, "--target", "sm_80", "--register", file() + "=high"});
  EXPECT_EQ(high.exit_code, 0) << high.err;
  EXPECT_THAT(high.out, AllOf(HasSubstr("registered with high priority"), HasSubstr("(registered)")));
  const testing::Outcome low = wavetile({"explain", kProblem, "--target", "sm_80", "--register", file() + "=low"});
  EXPECT_THAT(low.out, HasSubstr("least predicted time"));
  const testing::Outcome bad = wavetile({"explain", kProblem, "--target", "sm_80", "--register", file() + "=urgent"});
  EXPECT_EQ(bad.exit_code, 2);
  EXPECT_THAT(bad.err, HasSubstr("priority urgent is not known"));
}

TEST_F(OwnKernels, APackOfThemIsRegisteredAndRuns) {
  const std::string pack = (folder_ / "own.wtpack").string();
  const testing::Outcome built =
      wavetile({"pack", "build", "--target", "sim:sm_80", "--kernel", file(), "-o", pack, "--no-progress"});
  ASSERT_EQ(built.exit_code, 0) << built.err;
  const testing::Outcome ran =
      wavetile({"run", kProblem, "--device", "sim:sm_80", "--exact", "--register", pack + "=high"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr(kTile), HasSubstr("from pack")));
}

TEST_F(OwnKernels, GenerateRunsWhatItConfigures) {
  const testing::Outcome ran = wavetile({"generate", "--target", "sim:sm_80", "--pipeline", "compv3", "--tile-m", "64",
                                         "--tile-n", "32", "--tile-k", "32", "--warp-m", "2", "--warp-n", "1",
                                         "--vector-a", "8", "--run", "fwd bf16 n1 c16 k32 i7x9 f3x3 p1 +bias+relu"});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("t64x32x32"), HasSubstr("bias_relu"), HasSubstr("verified  yes")));
  const testing::Outcome two_stage = wavetile(
      {"generate", "--target", "sim:sm_80", "--pipeline", "compv4", "--tile-m", "64", "--tile-n", "64", "--tile-k",
       "32", "--vector-a", "8", "--two-stage", "true", "--run", "bwd_weight bf16 n1 c16 k32 i7x9 f3x3 p1"});
  EXPECT_EQ(two_stage.exit_code, 0) << two_stage.err;
  EXPECT_THAT(two_stage.out, AllOf(HasSubstr("split_workspace"), HasSubstr("verified  yes")));
  const testing::Outcome both = wavetile({"generate", "--variant", "fwd", "--run", kProblem});
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_THAT(both.err, HasSubstr("--variant does not go with --run"));
}

TEST(GenerateOptions, WhatIsNotUsedIsRefusedInASentence) {
  const testing::Outcome help = wavetile({"generate", "--help"});
  EXPECT_THAT(help.out, HasSubstr("understood, not used"));
  for (const char* option :
       {"--pad-m", "--pad-n", "--pad-k", "--split-image", "--k-group", "--out-tile", "--out-stages"}) {
    EXPECT_THAT(help.out, HasSubstr(option));
    const testing::Outcome refused = wavetile({"generate", "--list", option, "1"});
    EXPECT_EQ(refused.exit_code, 2) << option;
    EXPECT_THAT(refused.err, HasSubstr(option));
  }
  const testing::Outcome buffer =
      wavetile({"generate", "--list", "--target", "sm_80", "--pipeline", "compv5", "--double-smem-buffer", "true"});
  EXPECT_EQ(buffer.exit_code, 3);
  EXPECT_THAT(buffer.err, HasSubstr("use basic_v2, mem or compv3, which may have two"));
  // Of 1x1 filters, without saying so twice.
  const testing::Outcome plain = wavetile(
      {"generate", "--list", "--target", "sm_80", "--variant", "bwd_weight", "--explicit-gemm", "--vector-a", "8"});
  EXPECT_EQ(plain.exit_code, 0) << plain.err;
  EXPECT_THAT(plain.out, HasSubstr("_explicit"));
}

TEST_F(OwnKernels, RunsIntoOneFolderAddUpAndAreRemoved) {
  const std::string tree = (folder_ / "tree").string();
  const auto generate = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"generate",   "--target", "sim:gfx1100", "--ndim", "2",
                                      "--datatype", "fp32",     "-o",          tree};
    words.insert(words.end(), more.begin(), more.end());
    const testing::Outcome outcome = wavetile(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  };
  generate({"--rule-set", "tiny", "--variant", "fwd"});
  const std::string forward = *read_file(tree + "/include_all_fwd.h");
  ASSERT_THAT(forward, HasSubstr("kernels/"));
  generate({"--rule-set", "tests", "--variant", "bwd_weight", "--append"});
  EXPECT_THAT(*read_file(tree + "/include_all_fwd.h"), forward);
  EXPECT_THAT(*read_file(tree + "/include_all_bwd_weight.h"), HasSubstr("kernels/"));
  EXPECT_THAT(*read_file(tree + "/manifest.json"), HasSubstr("\"rule_set\": \"tiny, tests\""));
  generate({"--rule-set", "tests", "--remove"});
  EXPECT_THAT(*read_file(tree + "/include_all_fwd.h"), forward);
  EXPECT_THAT(*read_file(tree + "/include_all_bwd_weight.h"), Not(HasSubstr("kernels/")));
  generate({"--rule-set", "tests", "--variant", "bwd_weight"});
  EXPECT_THAT(*read_file(tree + "/include_all_fwd.h"), Not(HasSubstr("kernels/")));
}

}  // namespace
}  // namespace wt::cli
