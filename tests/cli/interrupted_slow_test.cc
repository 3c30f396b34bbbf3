// SPDX-License-Identifier: Apache-2.0
// Long work shows its progress from the start, and Ctrl-C keeps what is done.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/cli/subprocess.h"

namespace wt::cli::testing {
namespace {

using ::testing::HasSubstr;

// Kernels are compiled anew, so that the signal comes while the first is.
class Interrupted : public ::testing::Test {
 protected:
  std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "wavetile_interrupted";
  void SetUp() override { std::filesystem::remove_all(folder), std::filesystem::create_directories(folder); }
  Outcome stopped(std::vector<std::string> arguments, const std::string& after) {
    return run(
        {.arguments = std::move(arguments),
         .environment = {{"WAVETILE_CACHE_DIR", (folder / "cache").string()}, {"TERM", "xterm"}, {"NO_COLOR", ""}},
         .terminal = true,
         .interrupt_after = after});
  }
};

TEST_F(Interrupted, SearchWritesWhatItTried) {
  const std::string file = (folder / "search.json").string();
  const Outcome outcome = stopped(
      {"search", "fwd bf16 n1 c16 k16 i4x4 f1x1", "--device", "sim:sm_90a", "--best", "2", "--exact", "--json", file},
      "0/4");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("interrupted after 1 of 1 problems"));
  const Result<std::string> text = read_file(file);
  ASSERT_TRUE(text.ok()) << outcome.out;
  EXPECT_TRUE(nlohmann::json::parse(*text)["interrupted"].get<bool>());
}

TEST_F(Interrupted, PackBuildKeepsItsKernels) {
  const std::string file = (folder / "some.wtpack").string();
  const Outcome outcome = stopped({"pack", "build", "--target", "sim:sm_90a", "--problems",
                                   "fwd bf16 n1 c16 k16 i4x4 f1x1", "--most", "3", "-o", file},
                                  "0/");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.out;
  EXPECT_TRUE(std::filesystem::exists(file)) << outcome.out;
}

#ifdef WT_HAVE_NVRTC
TEST_F(Interrupted, TargetsShowsWhatItChecked) {
  const Outcome outcome = stopped({"targets", "--target", "sm_80", "--rule-set", "tiny"}, "0/");
  EXPECT_EQ(outcome.exit_code, 130) << outcome.out;
  EXPECT_THAT(outcome.out, HasSubstr("interrupted after "));
  EXPECT_THAT(outcome.out, HasSubstr("what follows is of those"));
}
#endif

}  // namespace
}  // namespace wt::cli::testing
