// SPDX-License-Identifier: Apache-2.0
// tests/cli/selftest_slow_test.cc - wavetile selftest in the simulator: what it runs, what it writes, what it notices.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/cli/subprocess.h"
#include "tests/dispatch/tuning_scratch.h"
#include "tests/places.h"

namespace wt::cli::testing {
namespace {

using ::testing::HasSubstr;

TEST(Selftest, PassesInTheSimulatorAndWritesItsResult) {
  const tuning::ScratchFolder folder;
  const std::string file = (folder.path() / "result.json").string();
  const Outcome outcome = wavetile({"selftest", "--device", "sim:sm_90a", "--kernels", "4", "-o", file});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("passed: "));
  EXPECT_THAT(outcome.out, HasSubstr("only a GPU has streams"));
  const auto json = nlohmann::json::parse(*read_file(file));
  EXPECT_TRUE(json["passed"].get<bool>());
  ASSERT_EQ(json["sections"].size(), 5u);
  EXPECT_EQ(json["sections"][0]["checks"], 8) << "four kernels, exact and random";
  // Kinds take turns, so that few kernels are of as many kinds as they can be.
  EXPECT_THAT(json["sections"][0]["note"].get<std::string>(), ::testing::StartsWith("kernels of 4 of "));
  EXPECT_GT(json["sections"][1]["checks"], 50);
}

#if WT_HAVE_NVRTC
// Kernels of the fake driver compute nothing, and nothing faults there.
TEST(Selftest, NoticesADeviceThatIsNoGood) {
  const tuning::ScratchFolder folder;
  const std::string file = (folder.path() / "result.json").string();
  const Outcome outcome = run({.arguments = {"selftest", "--device", "gpu", "--kernels", "2", "-o", file},
                               .environment = {{"WAVETILE_CUDA_DRIVER", places::kFakeCuda}}});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("repeat with: wavetile run"));
  const auto json = nlohmann::json::parse(*read_file(file));
  EXPECT_FALSE(json["passed"].get<bool>());
  // Each part notices it, and none may be left out on a GPU.
  std::vector<std::string> names;
  for (const auto& section : json["sections"]) {
    names.push_back(section["name"].get<std::string>());
    EXPECT_GT(section["checks"], 0) << names.back();
    EXPECT_GT(section["faults"].size(), 0u) << names.back();
    if (names.back() == "kernels") {
      EXPECT_EQ(section["faults"].size(), 4u);
    }
  }
  EXPECT_THAT(names, ::testing::ElementsAre("primitives", "faults", "kernels", "non-finite values", "streams", "graphs",
                                            "memory"));
}
#endif

TEST(Selftest, ACpuHasNone) {
  const Outcome outcome = wavetile({"selftest", "--device", "cpu"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("for GPUs and simulators"));
}

}  // namespace
}  // namespace wt::cli::testing
