// SPDX-License-Identifier: Apache-2.0
// The commands on the CPU, as a user runs them: output, JSON, filters, terminals and Ctrl-C.
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
using ::testing::Not;
using Json = nlohmann::json;

const std::string kProblem = "fwd bf16 n2 c8 k8 i9x9 f3x3 p1 +bias+relu";

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::filesystem::path scratch(const std::string& name) {
  return std::filesystem::path(::testing::TempDir()) / ("wavetile_cli_" + name);
}

TEST(RunCommand, VerifiesAndSaysHowToRepeat) {
  const Outcome outcome = wavetile({"run", kProblem, "--device", "cpu", "--repeat", "2"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("verified  yes, all 1296 elements"), HasSubstr("GFLOP/s"),
                                 HasSubstr("repeat    wavetile run '" + kProblem + "' --device cpu")));
}

TEST(RunCommand, TakesAProblemAsSeparateWords) {
  const Outcome outcome = wavetile({"run", "bwd_data", "fp16", "n1", "c4", "k4", "i5x5", "f3x3", "--device", "cpu",
                                    "--exact", "--seed", "5", "--repeat", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("small integers"));
  EXPECT_THAT(outcome.out, HasSubstr("--exact --seed 5"));
}

TEST(RunCommand, TakesAKernelByName) {
  const Outcome outcome = wavetile({"run", kProblem, "--device", "cpu", "--kernel", "builtin", "--repeat", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("builtin"));
}

TEST(RunCommand, TakesATransposedConvolutionInItsOwnWords) {
  const Outcome outcome = wavetile(
      {"run", "transposed fp32 n1 c4 k6 i5x5 f3x3 s2 p1 o1 +bias", "--device", "cpu", "--exact", "--repeat", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("bwd_data fp32 n1 c6 k4 i10x10 f3x3 s2 p1 +bias"),
                                 HasSubstr("verified  yes, all 600 elements")));
}

TEST(RunCommand, RunsABiasGradientAlone) {
  const Outcome outcome = wavetile({"run", "bwd_weight bf16 n2 c4 k7 i5x5 f3x3 p1", "--device", "cpu",
                                    "--bias-gradient", "--same", "2", "--repeat", "1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("verified  yes, all 7 elements"), HasSubstr("the same bits 2 times"),
                                 Not(HasSubstr("GFLOP/s")), HasSubstr("--bias-gradient")));
  const Outcome refused = wavetile({"run", kProblem, "--device", "cpu", "--bias-gradient"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("sums the dy of bwd_weight"));
}

TEST(RunCommand, ProvesThatResultsDoNotDependOnTheBatch) {
  const std::vector<std::string> words = {"run", kProblem, "--device", "cpu", "--repeat", "1", "--batch-invariant"};
  const Outcome outcome = wavetile(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("cpu_builtin_gemm"), HasSubstr("batch-invariant, which oneDNN"),
                                 HasSubstr("batches of 1, 2, 3, 16, 64 images, in order and backwards: 108 results"),
                                 HasSubstr("--device cpu --batch-invariant")));
  std::vector<std::string> as_json = words;
  as_json.push_back("--json");
  const Json batches = Json::parse(wavetile(as_json).out)["result"]["batches"];
  EXPECT_EQ(batches, (Json{{"sizes", {1, 2, 3, 16, 64}}, {"compared", 108}}));
  const Outcome gradient = wavetile(
      {"run", "bwd_weight bf16 n2 c4 k7 i5x5 f3x3 p1", "--device", "cpu", "--repeat", "1", "--batch-invariant"});
  EXPECT_THAT(gradient.out, HasSubstr("the same bits 2 times"));
}

TEST(ExplainCommand, NamesThePriceOfResultsThatDoNotDependOnTheBatch) {
  const std::vector<std::string> words = {"explain", "fwd bf16 n1 c2048 k64 i7x7 f3x3 p1", "--target", "sm_90a",
                                          "--batch-invariant"};
  const Outcome outcome = wavetile(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("batch      decided as for "), HasSubstr(" by the free choice (0."),
                                 HasSubstr("batch-invariant, as for ")));
}

TEST(ExplainCommand, SaysWhereAHistoryIsJoined) {
  const Outcome outcome =
      wavetile({"explain", "fwd bf16 n4 c64 k64 i256 f4 pcausal history", "--target", "sm_90a", "--all"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("chosen     wt_fwd_bf16"),
                                 HasSubstr("because    history and x joined before (132608 bytes are copied): least"),
                                 HasSubstr("the kernel reads no history")));
}

TEST(ExplainCommand, NamesWhatAPlanTakes) {
  // The choice is among every proposal, not only among those that packs hold.
  const char* problem = "bwd_data bf16 n16 c256 k36 i100x100 f3x3 p1";
  const auto chosen = [&](std::vector<std::string> words) {
    const Outcome outcome = wavetile(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    const size_t at = outcome.out.find("chosen"), end = outcome.out.find('\n', at);
    return at == std::string::npos ? std::string() : outcome.out.substr(at, end - at);
  };
  const std::string few = chosen({"explain", problem, "--target", "sm_90a"});
  EXPECT_NE(few.find("wt_bwd_data"), std::string::npos) << few;
  EXPECT_EQ(few, chosen({"explain", problem, "--target", "sm_90a", "--all"}));
}

// Another GPU's prediction, by its name on the page of rates.
TEST(ExplainCommand, PredictsForAGpuThatIsNotHere) {
  const Outcome outcome = wavetile({"explain", "fwd bf16 n8 c64 k64 i56x56 f1x1", "--gpu", "h100 pcie"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("rates      of H100 PCIe: 114 multiprocessors at 1620 MHz, 1.81 TB/s"));
  const auto predicted = [](const char* gpu) {
    const Outcome json = wavetile({"explain", "fwd bf16 n256 c64 k64 i56x56 f1x1", "--gpu", gpu, "--json"});
    EXPECT_EQ(json.exit_code, 0) << json.err;
    return nlohmann::json::parse(json.out)["decision"]["predicted_us"].get<double>();
  };
  EXPECT_GT(predicted("H100"), 1.2 * predicted("H200"));
}

TEST(RunCommand, PrintsJson) {
  const Outcome outcome = wavetile({"run", kProblem, "--device", "cpu", "--json", "--repeat", "2"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["device"]["id"], "cpu");
  EXPECT_EQ(json["result"]["problem"], kProblem);
  EXPECT_EQ(json["result"]["verification"]["verified"], true);
  EXPECT_EQ(json["result"]["timing"]["runs"], 2);
}

TEST(RunCommand, TakesAnEmptyBatch) {
  const Outcome outcome = wavetile({"run", "fwd bf16 n0 c8 k8 i9x9 f3x3", "--device", "cpu"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the output is empty"));
}

TEST(RunCommand, LogsACommandThatRepeatsIt) {
  const Outcome outcome = run(
      {.arguments = {"run", kProblem, "--device", "cpu", "--repeat", "1"}, .environment = {{"WAVETILE_LOG", "info"}}});
  EXPECT_THAT(outcome.err, HasSubstr("wavetile run '" + kProblem + "' --device cpu"));
}

std::vector<std::string> bench_resnet(std::vector<std::string> more) {
  std::vector<std::string> arguments{"bench", "awkward",     "--filter", "det_*", "--device",
                                     "cpu",   "--no-target", "--repeat", "1"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(BenchCommand, FiltersASuiteAndVerifiesThreeDirections) {
  const Outcome outcome = wavetile(bench_resnet({}));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "") << "no progress bar in a pipe";
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("det_18out_1x1  fwd bf16"), HasSubstr("bwd_data bf16"),
                                 HasSubstr("bwd_weight bf16"), HasSubstr("3 of 3 verified")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("stem3x3_s2")));
}

TEST(BenchCommand, KeepsItsTableStraight) {
  const Outcome outcome = wavetile({"bench", kProblem, "bwd_data fp32 n1 c4 k12 i30x30 f3x3 s2 p1", "--device", "cpu",
                                    "--no-target", "--repeat", "1"});
  const std::vector<std::string> lines = lines_of(outcome.out);
  ASSERT_GE(lines.size(), 7u) << outcome.out;
  // Device line, empty line, titles, rule, rows.
  const size_t time = lines[2].find("time");
  ASSERT_NE(time, std::string::npos);
  EXPECT_EQ(lines[3].find_first_not_of('-'), std::string::npos);
  for (const size_t row : {4u, 5u}) {
    EXPECT_EQ(lines[row][time + 3], 's') << "times end where their title does: " << lines[row];
    EXPECT_EQ(lines[row].find("whole"), lines[2].find("verified")) << lines[row];
  }
  for (const std::string& line : lines) EXPECT_LE(line.size(), 124u) << line;
}

TEST(BenchCommand, WritesJson) {
  const std::filesystem::path file = scratch("bench.json");
  std::filesystem::remove(file);
  const Outcome outcome = wavetile(bench_resnet({"--json", file.string(), "--direction", "fwd"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const auto text = read_file(file);
  ASSERT_TRUE(text.ok()) << text.status().message();
  const Json json = Json::parse(*text);
  EXPECT_EQ(json["schema"], 1);
  ASSERT_EQ(json["rows"].size(), 1u);
  EXPECT_EQ(json["rows"][0]["name"], "det_18out_1x1");
  EXPECT_EQ(json["rows"][0]["verification"]["verified"], true);
  EXPECT_GT(json["rows"][0]["timing"]["gigaflops"], 0);
  EXPECT_THAT(json["command"].get<std::string>(), HasSubstr("wavetile bench awkward --device cpu --filter 'det_*'"));
  std::filesystem::remove(file);
}

TEST(BenchCommand, PrintsOnlyJsonOnStandardOutput) {
  const Outcome outcome = wavetile(bench_resnet({"--json", "-"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["summary"]["verified"], 3);
}

TEST(BenchCommand, DrawsItsBarOnATerminal) {
  const Invocation invocation{.arguments = bench_resnet({}),
                              .environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}},
                              .terminal = true,
                              .columns = 80};
  const Outcome outcome = run(invocation);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, HasSubstr("] 1/3"));
  Invocation quiet = invocation;
  quiet.environment = {{"TERM", "xterm"}, {"NO_COLOR", "1"}};
  EXPECT_THAT(run(quiet).out, Not(HasSubstr("] 1/3")));
  quiet.environment = {{"TERM", "xterm"}, {"NO_COLOR", ""}};
  quiet.arguments.push_back("--no-progress");
  EXPECT_THAT(run(quiet).out, Not(HasSubstr("] 1/3")));
}

TEST(BenchCommand, FitsTheTerminal) {
  for (const int columns : {80, 120}) {
    const Outcome outcome = run({.arguments = bench_resnet({"--no-progress"}),
                                 .environment = {{"TERM", "xterm"}},
                                 .terminal = true,
                                 .columns = columns});
    const std::vector<std::string> lines = lines_of(outcome.out);
    // A terminal adds a carriage return.
    for (const std::string& line : lines) EXPECT_LE(line.size(), static_cast<size_t>(columns) + 1) << line;
  }
}

TEST(BenchCommand, StopsAtCtrlCWithoutAFile) {
  const std::filesystem::path file = scratch("interrupted.json");
  std::filesystem::remove(file);
  const Outcome outcome =
      run({.arguments = {"bench", "quick", "--device", "cpu", "--no-target", "--json", file.string()},
           .interrupt_after = "fwd bf16"});
  EXPECT_EQ(outcome.exit_code, 130);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("interrupted after "), HasSubstr(" of 30 rows; no file was written")));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(ExplainCommand, ShowsTheGemmAndThePhases) {
  const Outcome outcome = wavetile({"explain", "bwd_data bf16 n2 c16 k24 i9x9 f3x3 s2 p1", "--device", "cpu"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("gemm       m 162  n 16  k 216"), HasSubstr("phases     4:"),
                                 HasSubstr("plan       cpu_")));
}

TEST(DevicesCommand, ListsTheCpuAndTheCompilers) {
  const Outcome outcome = wavetile({"devices"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("cpu "), HasSubstr("sim:sm_90a"), HasSubstr("NVIDIA kernels"),
                                 HasSubstr("kernel cache")));
  const Json json = Json::parse(wavetile({"devices", "--json"}).out);
  EXPECT_EQ(json["devices"][0]["id"], "cpu");
  EXPECT_EQ(json["compilers"].size(), 3u);
}

// A machine with ROCm, as `wavetile devices` shows it.
TEST(Devices, ListsAnAmdGpu) {
  const std::vector<std::pair<std::string, std::string>> rocm = {{"WAVETILE_HIP_DRIVER", places::kFakeHip}};
  const Outcome outcome = run({.arguments = {"devices"}, .environment = rocm});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("hip:0"), HasSubstr("Fake MI300X"),
                                 HasSubstr("gfx942, 304 compute units, 1.00 GiB, HIP 6.4")));
  EXPECT_EQ(outcome.out.find("No AMD GPU"), std::string::npos);
  auto small = rocm;
  small.emplace_back("WAVETILE_FAKE_ARCHITECTURE", "gfx1101");
  EXPECT_THAT(run({.arguments = {"devices"}, .environment = small}).out,
              HasSubstr("gfx1101 by gfx11-generic, 304 workgroup processors"));
  const Json json = Json::parse(run({.arguments = {"devices", "--json"}, .environment = rocm}).out);
  EXPECT_EQ(json["devices"][1]["id"], "hip:0");
  EXPECT_EQ(json["devices"][1]["kind"], "hip");
  EXPECT_EQ(json["devices"][1]["architecture"], "gfx942");
}

TEST(Devices, SaysWhyThereIsNoAmdGpu) {
  const Outcome outcome =
      run({.arguments = {"devices"}, .environment = {{"WAVETILE_HIP_DRIVER", "/nonexistent/libamdhip64.so.6"}}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("No AMD GPU:"), HasSubstr("no HIP")));
}

TEST(Binary, NeedsOnlyTheCLibrary) {
  FILE* pipe = popen(("ldd " + binary_path()).c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string text;
  char buffer[512];
  while (fgets(buffer, sizeof buffer, pipe)) text += buffer;
  ASSERT_EQ(pclose(pipe), 0);
#if !defined(__SANITIZE_ADDRESS__)
  for (const std::string& line : lines_of(text)) {
    const bool known = line.find("linux-vdso") != std::string::npos || line.find("libc.so") != std::string::npos ||
                       line.find("libm.so") != std::string::npos || line.find("ld-linux") != std::string::npos ||
                       line.find("libdl.so") != std::string::npos || line.find("libpthread.so") != std::string::npos;
    EXPECT_TRUE(known) << "the binary needs" << line;
  }
#endif
}

}  // namespace
}  // namespace wt::cli::testing
