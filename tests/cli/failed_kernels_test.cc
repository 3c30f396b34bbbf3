// SPDX-License-Identifier: Apache-2.0
// search, bench and tune where kernels do not compile, or give wrong results: loud, and never the exit code 0.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"
#include "cli/exit_code.h"
#include "compile/pack.h"
#include "config/fields.h"
#include "dispatch/choice/selection.h"
#include "tests/cli/subprocess.h"
#include "tests/dispatch/tuning_scratch.h"
#include "tests/places.h"

namespace wt::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

using Environment = std::vector<std::pair<std::string, std::string>>;

class FailedKernels : public ::testing::Test {
 protected:
  static constexpr const char* kText = "fwd fp32 n1 c3 k5 i4x4 f3x3 p1";

  Outcome wavetile(std::vector<std::string> arguments, Environment more) {
    more.emplace_back("WAVETILE_TUNING_DB", file("tuning.db").string());
    more.emplace_back("WAVETILE_CACHE_DIR", file("cache").string());
    return run({.arguments = std::move(arguments), .environment = std::move(more)});
  }
  std::filesystem::path file(const std::string& name) const { return folder_.path() / name; }

  // A compiler that makes one kernel, and then no more.
  Environment compiles_one() const {
    const std::filesystem::path script = file("compiler");
    const std::string text = fmt::format(
        "#!/bin/sh\ncase \"$*\" in *--version*) exec c++ \"$@\";; esac\n"
        "mkdir {0} 2>/dev/null && exec c++ \"$@\"\necho 'no second kernel' >&2\nexit 1\n",
        file("made").string());
    EXPECT_TRUE(write_file(script.string(), text).ok());
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    return {{"WAVETILE_CXX", script.string()}};
  }
  static Environment compiles_none() { return {{"WAVETILE_CXX_FLAGS", "-fno-such-flag-of-any-compiler"}}; }

  // The fake driver runs no kernel, so that every result is wrong; a pack has all kernels, so that none is compiled.
  Environment all_wrong() const {
    std::vector<compile::PackInput> inputs;
    for (const RankedConfig& candidate : rank(*parse_problem(kText), usual_rates(Target::kSm90a), {}, Breadth::kAll)) {
      compile::Module module{.target = Target::kSm90a, .name = name_of(*candidate.config), .key = "k"};
      module.image = module.name;
      inputs.push_back({*candidate.config, module});
    }
    const std::filesystem::path pack = file("all.wtpack");
    EXPECT_TRUE(compile::write_pack(pack, compile::Backend::kNvrtc, Target::kSm90a, "tests", inputs).ok());
    return {{"WAVETILE_CUDA_DRIVER", places::kFakeCuda}, {"WAVETILE_PACK", pack.string()}};
  }

 private:
  tuning::ScratchFolder folder_;
};

TEST_F(FailedKernels, SearchFailsWhereNoneCompiles) {
  const Outcome outcome = wavetile({"search", kText, "--device", "sim:sm_80", "--best", "2"}, compiles_none());
  EXPECT_EQ(outcome.exit_code, kExitDevice) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("0 kernels right, 0 wrong, 2 failed"));
  EXPECT_THAT(outcome.err, HasSubstr("wavetile: 2 kernels FAILED to compile or run"));
}

TEST_F(FailedKernels, SearchFailsWhereOneDoesNotCompile) {
  const Outcome outcome = wavetile({"search", kText, "--device", "sim:sm_80", "--best", "2"}, compiles_one());
  EXPECT_EQ(outcome.exit_code, kExitDevice) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1 kernels right, 0 wrong, 1 failed"));
  EXPECT_THAT(outcome.err, HasSubstr("wavetile: 1 kernel FAILED to compile or run"));
}

TEST_F(FailedKernels, SearchFailsWhereResultsAreWrong) {
  const Outcome outcome = wavetile({"search", kText, "--device", "gpu", "--best", "2", "--json", "-"}, all_wrong());
  EXPECT_EQ(outcome.exit_code, kExitVerificationFailed) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("wavetile: 2 kernels gave WRONG RESULTS"));
}

TEST_F(FailedKernels, TuneFailsWhereNoneCompiles) {
  const Outcome outcome = wavetile({"tune", kText, "--device", "sim:sm_80", "--few"}, compiles_none());
  EXPECT_EQ(outcome.exit_code, kExitDevice) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("FAILED to compile or run; --json says why"), Not(HasSubstr("  verified"))));
  EXPECT_THAT(outcome.err, HasSubstr("FAILED to compile or run"));
}

TEST_F(FailedKernels, TuneFailsWhereOthersCompile) {
  const Outcome outcome = wavetile({"tune", kText, "--device", "sim:sm_80", "--few"}, compiles_one());
  EXPECT_EQ(outcome.exit_code, kExitDevice) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("FAILED to compile or run"));
}

TEST_F(FailedKernels, TuneFailsWhereResultsAreWrong) {
  const Outcome outcome = wavetile({"tune", kText, "--device", "gpu", "--few", "--json", "-"}, all_wrong());
  EXPECT_EQ(outcome.exit_code, kExitVerificationFailed) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("gave WRONG RESULTS"));
}

TEST_F(FailedKernels, BenchFailsWhereNoneCompiles) {
  const Outcome outcome = wavetile({"bench", kText, "--device", "sim:sm_80"}, compiles_none());
  EXPECT_EQ(outcome.exit_code, kExitDevice) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("FAILED"));
  EXPECT_THAT(outcome.err, HasSubstr("repeat with: wavetile run"));
}

TEST_F(FailedKernels, BenchFailsWhereResultsAreWrong) {
  const Outcome outcome = wavetile({"bench", kText, "--device", "gpu"}, all_wrong());
  EXPECT_EQ(outcome.exit_code, kExitVerificationFailed) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("WRONG"));
}

// Kernels of the fake driver compute nothing, so that rows after the fault are wrong: they ran, which is what counts.
TEST_F(FailedKernels, BenchGoesOnAfterAKernelThatTookTheDevice) {
  Environment environment = all_wrong();
  environment.emplace_back("WAVETILE_FAKE_KERNEL_FAULT", "700@1");
  const Outcome outcome = wavetile({"bench", kText, kText, "--device", "gpu"}, environment);
  EXPECT_EQ(outcome.exit_code, kExitVerificationFailed) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("took the device with it, which is opened again"));
  EXPECT_THAT(outcome.out, HasSubstr("WRONG"));
}

TEST(ReportKernels, WrongResultsOutweighWhatDidNotRun) {
  EXPECT_EQ(report_kernels(1, 2), kExitVerificationFailed);
  EXPECT_EQ(report_kernels(0, 2), kExitDevice);
  EXPECT_EQ(report_kernels(0, 0), kExitGood);
}

}  // namespace
}  // namespace wt::cli::testing
