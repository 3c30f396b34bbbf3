// SPDX-License-Identifier: Apache-2.0
// Tuning on a simulator, which compiles its kernels with the host compiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/subprocess.h"
#include "tests/dispatch/tuning_scratch.h"

namespace wt::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(SimulatedTune, VerifiesAndSavesNothing) {
  const tuning::ScratchFolder folder;
  const std::string file = (folder.path() / "tuning.db").string();
  const Outcome outcome =
      run({.arguments = {"tune", "fwd fp32 n1 c3 k5 i4x4 f3x3 p1", "--device", "sim:sm_80", "--few"},
           .environment = {{"WAVETILE_TUNING_DB", file}}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("Its times say nothing about a GPU"), HasSubstr("verified"), HasSubstr("0 tuned")));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(SimulatedTune, APlanOnFirstUseSaysThatNothingIsTuned) {
  const Outcome outcome =
      wavetile({"run", "fwd fp32 n1 c3 k5 i4x4 f3x3 p1", "--device", "sim:sm_80", "--tuning", "first-use", "--exact"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("nothing is tuned on sim:sm_80"));
}

}  // namespace
}  // namespace wt::cli::testing
