// SPDX-License-Identifier: Apache-2.0
// What a newcomer meets around the numbers: logs that replay, outputs by the same words everywhere, help, completions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/show/bench_report.h"
#include "cli/show/progress.h"
#include "problem/traffic.h"
#include "tests/cli/subprocess.h"

namespace wt::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using Json = nlohmann::json;

const std::string kProblem = "fwd fp32 n1 c8 k8 i9x9 f3x3 p1";

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / ("wavetile_contact_" + name);
}

size_t longest_line(const std::string& text) {
  size_t longest = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    longest = std::max(longest, end - at);
    at = end + 1;
  }
  return longest;
}

TEST(BenchLog, ReplaysWhatALogHolds) {
  const auto log = scratch("run.log"), csv = scratch("rows.csv");
  ASSERT_TRUE(write_file(log, "2026-01-01 wavetile info: wavetile run '" + kProblem +
                                  "' --device cpu  # cpu_onednn\nnoise\n"
                                  "2026-01-01 wavetile info: wavetile run 'bwd_data fp32 n1 c4 k4 i5x5 f3x3' --device "
                                  "gpu:0  # k, 3.10 us\n"
                                  "2026-01-01 wavetile info: wavetile run '" +
                                  kProblem + "' --device cpu  # cpu_onednn\n")
                  .ok());
  const Outcome outcome = wavetile({"bench", "--log", log.string(), "--device", "cpu", "--no-target", "--repeat", "2",
                                    "--no-roof", "--csv", csv.string()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1 x2"), HasSubstr("2 x1"), HasSubstr("2 of 2 verified")));
  const Result<std::string> rows = read_file(csv);
  ASSERT_TRUE(rows.ok());
  EXPECT_THAT(*rows, AllOf(StartsWith("name,direction,problem"), HasSubstr("\"" + kProblem + "\"")));
  EXPECT_EQ(wavetile({"bench", "--log", log.string(), "quick"}).exit_code, 2);
  ASSERT_TRUE(write_file(log, "nothing here\n").ok());
  EXPECT_THAT(wavetile({"bench", "--log", log.string()}).err, HasSubstr("no execution in it"));
  ASSERT_TRUE(write_file(log, "wavetile run 'fwd fp32 n1 c4 k4 i4x4 f1x1 +f=\"acc * 2\"' --device cpu\n").ok());
  EXPECT_THAT(wavetile({"bench", "--log", log.string()}).err, HasSubstr("--allow-code"));
}

TEST(Outputs, JsonMeansTheSameEverywhere) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run", kProblem, "--device", "cpu", "--repeat", "1"},
        {"bench", kProblem, "--device", "cpu", "--no-target", "--repeat", "1", "--no-roof"},
        {"explain", kProblem, "--target", "sm_90a"},
        {"devices"},
        {"cache", "list"}}) {
    std::vector<std::string> alone = command, filed = command;
    alone.push_back("--json");
    const Outcome printed = wavetile(alone);
    EXPECT_TRUE(Json::accept(printed.out)) << command[0] << ": " << printed.out.substr(0, 300) << printed.err;
    const auto file = scratch(command[0] + ".json");
    std::filesystem::remove(file);
    filed.insert(filed.end(), {"--json", file.string()});
    const Outcome written = wavetile(filed);
    EXPECT_FALSE(Json::accept(written.out)) << command[0] << " prints its table where the document goes to a file";
    const Result<std::string> text = read_file(file);
    ASSERT_TRUE(text.ok()) << command[0] << ": " << written.err;
    EXPECT_TRUE(Json::accept(*text)) << command[0];
  }
  EXPECT_TRUE(Json::accept(wavetile({"run", "--json", kProblem}).out)) << "a problem is no file";
}

TEST(Outputs, QuietLeavesTheSummary) {
  const Outcome outcome =
      wavetile({"bench", kProblem, "--device", "cpu", "--no-target", "--repeat", "1", "--no-roof", "--quiet"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("1 of 1 verified"), Not(HasSubstr("problem1"))));
}

TEST(Outputs, AreReadableAtEightyColumns) {
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"bench", kProblem, "--device", "cpu", "--no-target", "--repeat", "1", "--no-roof"},
        {"devices"},
        {"--help"},
        {"bench", "--help"},
        {"search", "--help"},
        {"pack", "build", "--help"}}) {
    const Outcome outcome = run({.arguments = command, .terminal = true, .columns = 80});
    std::string text;
    for (const char letter : outcome.out)
      if (letter != '\r') text += letter;
    const size_t bar = text.rfind("\033[K");  // the progress bar draws over itself
    EXPECT_LE(longest_line(bar == std::string::npos ? text : text.substr(bar + 3)), 80u) << command[0] << "\n" << text;
  }
}

TEST(Bench, HasSpreadLeastAndShare) {
  const Outcome outcome = wavetile({"bench", kProblem, "--device", "cpu", "--no-target", "--json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  const Json& row = json["rows"][0];
  EXPECT_GT(row["share"].get<double>(), 0);
  EXPECT_LE(row["limit_us"].get<double>(), row["timing"]["minimum_us"].get<double>() * 1.0001) << "the roof is one";
  EXPECT_GT(json["ceilings"]["product_tflops"]["fp32"].get<double>(), 0);
}

// OpenMP's threads that spin take the cores from those that compute. OpenMP itself says what it was told.
TEST(Bench, ThreadsWaitWithoutSpinningUnlessToldTo) {
  if (wavetile({"devices"}).out.find("oneDNN 2.") == std::string::npos &&
      wavetile({"devices"}).out.find("oneDNN 3.") == std::string::npos)
    GTEST_SKIP() << "no oneDNN here, and OpenMP with it";
  ::unsetenv("OMP_WAIT_POLICY");
  const auto policy = [](std::vector<std::pair<std::string, std::string>> more) {
    more.emplace_back("OMP_DISPLAY_ENV", "true");
    return run({.arguments = {"run", kProblem, "--device", "cpu", "--repeat", "1"}, .environment = more}).err;
  };
  EXPECT_THAT(policy({}), HasSubstr("OMP_WAIT_POLICY = 'PASSIVE'"));
  EXPECT_THAT(policy({{"OMP_WAIT_POLICY", "active"}}), HasSubstr("OMP_WAIT_POLICY = 'ACTIVE'"));
}

TEST(Bench, WarnsOfTimesThatLieApart) {
  BenchRow row;
  row.trial.timing = Timing{.median_us = 10, .low_us = 5, .high_us = 19, .minimum_us = 5, .runs = 8};
  EXPECT_THAT(unsteady_warning({row}), HasSubstr("1 of 1 rows lie more than 2 times apart (up to 3.8)"));
  row.trial.timing->high_us = 9;
  EXPECT_EQ(unsteady_warning({row}), "");
}

TEST(Roof, IsTheBestThatWasSeenWithoutPadding) {
  const ConvProblem padded = *parse_problem("fwd fp32 n1 c1 k1 i4 f3 p1");
  EXPECT_EQ(work_without_padding(padded), 2 * 10) << "4 + 3 + 3 taps inside";
  EXPECT_EQ(padded.flops(), 2 * 12);
  for (const char* text : {"fwd fp32 n2 c3 k5 i9x7 f3x2 s2 p1", "fwd fp32 n1 c4 k4 g2 i11 f3 d3 p2:0"}) {
    const ConvProblem problem = *parse_problem(text);
    double pairs = 1;
    for (int d = 0; d < kMaxDims; ++d) {
      int64_t inside = 0;
      for (int64_t o = 0; o < problem.out()[d]; ++o)
        for (int64_t f = 0; f < problem.filter[d]; ++f) {
          const int64_t at = o * problem.stride[d] + f * problem.dilation[d] - problem.pad_lower[d];
          inside += at >= 0 && at < problem.in[d];
        }
      pairs *= static_cast<double>(inside);
    }
    EXPECT_EQ(work_without_padding(problem),
              2 * pairs * static_cast<double>(problem.n * problem.k * problem.c_per_group()))
        << text;
  }
  Roof roof;
  EXPECT_EQ(roof.limit_us(padded), 0) << "nothing was seen";
  roof.saw(padded, 10);
  roof.saw(padded, 20);
  EXPECT_DOUBLE_EQ(roof.limit_us(padded), 10);
}

TEST(Progress, MovesWithinOneProblem) {
  EXPECT_NE(progress_line(3, 9, 10, "x", 80, 1), progress_line(3, 9, 10, "x", 80, 2));
  EXPECT_THAT(progress_line(3, 9, 9, "x", 80), HasSubstr("about 18 s left"));
}

TEST(Forms, CompletionsAndTheManPageNameEveryCommand) {
  const Outcome bash = wavetile({"completion", "bash"}), zsh = wavetile({"completion", "zsh"}),
                fish = wavetile({"completion", "fish"}), man = wavetile({"man"});
  for (const char* command : {"run", "bench", "search", "tune", "tuning", "report", "doctor", "explain", "selftest",
                              "targets", "conformance", "devices", "generate", "cache", "pack"}) {
    for (const Outcome* form : {&bash, &zsh, &fish, &man})
      EXPECT_THAT(form->out, HasSubstr(command)) << form->out.substr(0, 60);
  }
  EXPECT_THAT(man.out,
              AllOf(StartsWith(".TH WAVETILE 1"), HasSubstr("\\-\\-json"), HasSubstr(".SS wavetile pack build")));
  const auto file = scratch("completion.bash");
  ASSERT_TRUE(write_file(file, bash.out).ok());
  const std::string script =
      "source " + file.string() +
      "; COMP_WORDS=(wavetile be); COMP_CWORD=1; _wavetile; [ \"${COMPREPLY[*]}\" = bench ] && "
      "COMP_WORDS=(wavetile bench --dev); COMP_CWORD=2; _wavetile; [ \"${COMPREPLY[*]}\" = --device ]";
  EXPECT_EQ(std::system(("bash -c '" + script + "'").c_str()), 0);
  EXPECT_EQ(wavetile({"completion", "tcsh"}).exit_code, 2);
}

}  // namespace
}  // namespace wt::cli::testing
