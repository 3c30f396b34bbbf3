// SPDX-License-Identifier: Apache-2.0
// What the command says, and with which code it ends, where the user got something wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/subprocess.h"

namespace wt::cli::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

struct BadInput {
  std::vector<std::string> arguments;
  int exit_code;
  std::string message;  // a part of it
};

void PrintTo(const BadInput& input, std::ostream* out) {
  *out << "wavetile";
  for (const std::string& word : input.arguments) *out << " '" << word << "'";
}

class Refused : public ::testing::TestWithParam<BadInput> {};

TEST_P(Refused, WithACodeAndItsOwnMessage) {
  const Outcome outcome = wavetile(GetParam().arguments);
  EXPECT_EQ(outcome.exit_code, GetParam().exit_code) << outcome.err;
  EXPECT_EQ(outcome.out, "") << "errors go to standard error, and only there";
  EXPECT_THAT(outcome.err, StartsWith("wavetile: "));
  EXPECT_THAT(outcome.err, HasSubstr(GetParam().message));
}

const std::string kProblem = "fwd fp32 n1 c4 k4 i5x5 f3x3 p1";

INSTANTIATE_TEST_SUITE_P(
    CommandLine, Refused,
    ::testing::Values(
        BadInput{{"bnech", "quick"}, 2, "unknown command 'bnech'; did you mean 'bench'?"},
        BadInput{{"xyzzy"}, 2, "unknown command 'xyzzy' (see wavetile --help)"},
        BadInput{{"--verzion"}, 2, "unknown option '--verzion'; did you mean '--version'?"},
        BadInput{{"run", kProblem, "--devcie", "cpu"}, 2, "unknown option '--devcie'; did you mean '--device'?"},
        BadInput{{"run", kProblem, "--devcie=cpu"}, 2, "did you mean '--device'?"},
        BadInput{{"run", kProblem, "-z"}, 2, "unknown option '-z' (see wavetile run --help)"},
        BadInput{{"run"}, 2, "PROBLEM"}, BadInput{{"run", kProblem, "--repeat", "0"}, 2, "--repeat"},
        BadInput{{"run", kProblem, "--repeat", "many"}, 2, "--repeat"},
        BadInput{{"run", kProblem, "--seed", "-1"}, 2, "--seed: -1 is too small; give 0 or more"},
        BadInput{{"run", kProblem, "--workspace-limit", "1k"}, 2, "--workspace-limit: '1k' is no number"},
        BadInput{{"run", kProblem, "--tuning", "of"}, 2, "--tuning: of not in {cached,first-use,off}"},
        BadInput{{"run", kProblem, "--device"}, 2, "--device"}, BadInput{{"bench"}, 2, "needs a suite"},
        BadInput{{"bench", "quick", "--direction", "sideways"}, 2, "--direction"},
        BadInput{{"explain", kProblem, "--device", "cpu", "--target", "sm_90a"}, 2, "--target"},
        BadInput{{"explain", kProblem, "--gpu", "H300"}, 2, "no rates are known of a GPU 'H300'; known are A100"},
        BadInput{{"explain", "resnet50", "--gpu", "H200"}, 2, "a suite takes --target"},
        BadInput{{"devices", "extra"}, 2, "unexpected word 'extra'"},
        BadInput{{"cache"}, 2, "a command is missing (see wavetile cache --help)"},
        BadInput{{"cache", "lits"}, 2, "unknown command 'lits'; did you mean 'list'?"},
        BadInput{{"pack", "build", "--target", "sm_90a"}, 2, "--output"},
        BadInput{{"pack", "list", "/nowhere.wtpack"}, 2, "/nowhere.wtpack"},
        BadInput{{"generate", "--list", "--tragte", "sm_90a"}, 2, "did you mean '--target'?"},
        BadInput{{"generate", "--list", "--target", "sm_99"}, 2, "sm_99"}));

INSTANTIATE_TEST_SUITE_P(
    Problems, Refused,
    ::testing::Values(BadInput{{"run", "sideways fp32 n1 c4 k4 i5x5 f3x3"}, 2, "sideways"},
                      BadInput{{"run", "fwd fp33 n1 c4 k4 i5x5 f3x3"}, 2, "fp33"},
                      BadInput{{"run", "fwd", "fp32", "n1", "c4", "k4", "i5x5", "f3x3", "q9"}, 2, "q9"},
                      BadInput{{"run", "fwd fp32 n1 c4 k4 g3 i5x5 f3x3"}, 2, "g"},
                      BadInput{{"run", "fwd fp32 n1 c4 k4 i5x5 f7x7"}, 2, "7"},  // an output without pixels
                      BadInput{{"run", "fwd fp32 n1 c4 k4 i5x5 f3x3 s0"}, 2, "stride h=0 must be at least 1"},
                      BadInput{{"run", "fwd fp32 n1 c4 k4 i5x5 f3x3x3"}, 2, "3x3x3"},
                      BadInput{{"run", "fwd fp32 n99999999999999999999 c4 k4 i5x5 f3x3"}, 2, "99999999999999999999"},
                      BadInput{{"run", ""}, 2, "expected a problem"}, BadInput{{"explain", "nonsense"}, 2, "nonsense"},
                      BadInput{{"bench", "fwd fp32 n1"}, 2, "c"},
                      BadInput{{"bench", "fwd", "fp32", "n1"}, 2, "put the whole text in quotes"}));

INSTANTIATE_TEST_SUITE_P(
    DevicesAndFiles, Refused,
    ::testing::Values(
        BadInput{{"run", kProblem, "--device", "toaster"}, 2, "device 'toaster' is unknown; use cpu, gpu"},
        BadInput{{"run", kProblem, "--device", "gpu:x"}, 2, "'x' is not the index of a GPU"},
        BadInput{{"run", kProblem, "--device", "sim:sm_99"}, 2, "sm_99"},
        BadInput{{"explain", kProblem, "--target", "h100"}, 2, "did you mean sm_90a (Hopper: H100, H200)?"},
        BadInput{{"run", kProblem, "--device", "sim:mi300x"}, 2, "did you mean gfx942 ("},
        BadInput{{"run", kProblem, "--device", "gpu:64"}, 4, ""},
        BadInput{{"run", kProblem, "--device", "cpu", "--kernel", "nosuch"}, 2, "nosuch"},
        BadInput{{"bench", "qwick"}, 2, "'qwick' is no suite; did you mean 'quick'?"},
        BadInput{{"bench", "/nowhere/suite.txt"}, 2, "/nowhere/suite.txt"}, BadInput{{"bench", "/"}, 2, "folder"},
        BadInput{{"bench", "quick", "--filter", "zzz*"}, 2, "--filter 'zzz*' matches none of the 10 names"},
        BadInput{{"bench", "quick", "--json", "/nowhere/at/all.json"}, 2, "folder /nowhere/at does not exist"},
        BadInput{{"bench", "quick", "--json", "/tmp"}, 2, "is a folder"},
        BadInput{{"bench", kProblem, "--device", "cpu", "--target", "sm_99"}, 2, "sm_99"}));

TEST(Command, AloneShowsItsHelp) {
  const Outcome outcome = wavetile({});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr("Examples:"));
}

TEST(Command, HelpsOnStandardOutput) {
  for (const char* command : {"run", "bench", "explain", "devices"}) {
    const Outcome outcome = wavetile({command, "--help"});
    EXPECT_EQ(outcome.exit_code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("--json"));
  }
  EXPECT_EQ(wavetile({"help", "bench"}).out, wavetile({"bench", "--help"}).out);
  EXPECT_EQ(wavetile({"help"}).out, wavetile({"--help"}).out);
  EXPECT_THAT(wavetile({"--help"}).out, HasSubstr("Exit codes: 0 good, 1 verification failed, 2 bad input"));
}

TEST(Command, SaysItsVersion) {
  const Outcome outcome = wavetile({"--version"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, StartsWith("wavetile 0."));
}

}  // namespace
}  // namespace wt::cli::testing
