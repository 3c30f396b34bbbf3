// SPDX-License-Identifier: Apache-2.0
// wavetile conformance without a GPU: what it runs, what it says it did not do, and its file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/cli/subprocess.h"
#include "tests/places.h"

namespace wt::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

TEST(ConformanceCommand, RunsTheSimulatorAndSaysThatNoGpuWasCompared) {
  const std::filesystem::path file = std::filesystem::path(::testing::TempDir()) / "wavetile_conformance.json";
  const Outcome outcome =
      wavetile({"conformance", "--device", "sim:sm_80", "--filter", "ldmatrix.*", "--json", file.string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("ldmatrix.x4.transposed"), HasSubstr("as expected"),
                                 HasSubstr("NOT compared with a GPU")));
  const auto text = read_file(file);
  ASSERT_TRUE(text.ok()) << text.status().message();
  const auto json = nlohmann::json::parse(*text);
  EXPECT_EQ(json["probes"], 4);
  EXPECT_EQ(json["compared_with_gpu"], 0);
  EXPECT_EQ(json["failed"], 0);
  EXPECT_TRUE(json.contains("without_gpu"));
  EXPECT_TRUE(json["compilers"].contains("host"));
  std::filesystem::remove(file);
}

TEST(ConformanceCommand, ListsWithoutRunning) {
  const Outcome outcome = wavetile({"conformance", "--device", "sim:sm_90a", "--list", "--filter", "wgmma.*.values"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("wgmma.tf32_tf32.n240.KK.swizzle128.values\n"));
}

// The first command on an AMD GPU: the fake one runs no kernel, so every probe differs, and each is named.
TEST(ConformanceCommand, SaysWhatDiffersOnAnAmdGpu) {
  const Outcome outcome = run({.arguments = {"conformance", "--device", "hip:0", "--filter", "mma.fp16*"},
                               .environment = {{"WAVETILE_HIP_DRIVER", places::kFakeHip}}});
#if WT_HAVE_CLANG
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("mma.fp16_32x32x8"), HasSubstr("bytes differ, first at"),
                                 HasSubstr("Fake MI300X, driver 6.4, 2 DIFFER")));
#else
  EXPECT_EQ(outcome.exit_code, 4) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("need clang"));
#endif
}

TEST(ConformanceCommand, RefusesWhatHasNoProbes) {
  const Outcome cpu = wavetile({"conformance", "--device", "cpu"});
  EXPECT_EQ(cpu.exit_code, 3);
  EXPECT_THAT(cpu.err, AllOf(HasSubstr("sm_80, sm_90a"), HasSubstr("gfx942")));
  const Outcome none = wavetile({"conformance", "--device", "sim:sm_80", "--filter", "nothing"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_THAT(none.err, HasSubstr("--list"));
}

}  // namespace
}  // namespace wt::cli::testing
