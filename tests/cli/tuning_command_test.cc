// SPDX-License-Identifier: Apache-2.0
// The commands tune, tuning and report, as a user runs them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "cli/commands/report.h"
#include "compile/pack.h"
#include "compile/sha256.h"
#include "dispatch/choice/selection.h"
#include "tests/cli/subprocess.h"
#include "tests/dispatch/tuning_scratch.h"
#include "tests/places.h"

namespace wt::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;
using tuning::Access;
using tuning::Database;

class TuningCommand : public ::testing::Test {
 protected:
  Outcome wavetile(std::vector<std::string> arguments, std::vector<std::pair<std::string, std::string>> more = {}) {
    more.emplace_back("WAVETILE_TUNING_DB", file().string());
    return run({.arguments = std::move(arguments), .environment = std::move(more)});
  }
  std::filesystem::path file(const std::string& name = "tuning.db") const { return folder_.path() / name; }
  void fill() {
    auto database = Database::open(file(), Access::kCreate);
    ASSERT_TRUE(database.ok()) << database.status().message();
    const std::string problem =
        canonical_text(*parse_problem("fwd bf16 n2 c16 k24 i9x9 f3x3")) + " user=0 det=1 strict=0 ws=any";
    ASSERT_TRUE((*database)->save(tuning::entry_of(problem)).ok());
    ASSERT_TRUE((*database)->quarantine({"sm_90a", "wt_bad_kernel", {"key", "", ""}, problem, "3 of 9 wrong", 7}).ok());
  }

  tuning::ScratchFolder folder_;
};

TEST_F(TuningCommand, ListsWhatIsThere) {
  const Outcome empty = wavetile({"tuning", "list"});
  EXPECT_EQ(empty.exit_code, 2);
  EXPECT_THAT(empty.err, HasSubstr("'wavetile tune' makes it"));
  EXPECT_FALSE(std::filesystem::exists(file()));
  fill();
  const Outcome outcome = wavetile({"tuning", "list"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("fwd bf16 n2 c16 k24 i9x9 f3x3 "), HasSubstr("Test GPU 132"), HasSubstr("10.0 us"),
                    HasSubstr("40/100"), HasSubstr("1 entries"), HasSubstr("IN QUARANTINE wt_bad_kernel")));
  EXPECT_EQ(wavetile({"tuning", "verify"}).exit_code, 0);
}

TEST_F(TuningCommand, CarriesADatabaseElsewhere) {
  fill();
  const std::string exported = file("export.json").string();
  ASSERT_EQ(wavetile({"tuning", "export", exported}).exit_code, 0);
  EXPECT_EQ(Json::parse(*read_file(exported))["entries"].size(), 1u);
  std::filesystem::rename(file(), file("old.db"));
  const Outcome imported = wavetile({"tuning", "import", exported});
  EXPECT_EQ(imported.exit_code, 0) << imported.err;
  EXPECT_THAT(imported.out, HasSubstr("2 of 2 rows"));
  EXPECT_THAT(wavetile({"tuning", "merge", file("old.db").string()}).out, HasSubstr("0 of 2 rows"));
  const Outcome wrong = wavetile({"tuning", "import", file("old.db").string()});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("no JSON"));
}

TEST_F(TuningCommand, PrunesAndReleases) {
  fill();
  EXPECT_THAT(wavetile({"tuning", "prune"}).err, HasSubstr("say what to drop"));
  EXPECT_THAT(wavetile({"tuning", "prune", "--gpu", "Another"}).out, HasSubstr("dropped 0 of 1"));
  EXPECT_THAT(wavetile({"tuning", "prune", "--older-than", "1"}).out, HasSubstr("dropped 1 of 1"));
  EXPECT_EQ(wavetile({"tuning", "release", "wt_bad_kernel"}).exit_code, 0);
  EXPECT_EQ(wavetile({"tuning", "release", "wt_bad_kernel"}).exit_code, 2);
}

TEST_F(TuningCommand, RefusesAForeignFile) {
  ASSERT_TRUE(write_file(file(), "not ours").ok());
  for (const char* command : {"list", "verify"}) {
    const Outcome outcome = wavetile({"tuning", command});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("no SQLite file"), HasSubstr("left as it is")));
  }
  EXPECT_EQ(*read_file(file()), "not ours");
}

TEST_F(TuningCommand, TheCpuHasNothingToTune) {
  const Outcome outcome = wavetile({"tune", "fwd bf16 n2 c16 k24 i9x9 f3x3", "--device", "cpu"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("no generated kernels to tune"));
}

// The fake driver runs no kernel, so every result is wrong: what is not right must be loud, and must not be saved.
class TuningOnFakeGpu : public TuningCommand {
 protected:
  static constexpr const char* kText = "fwd fp32 n1 c3 k5 i4x4 f3x3 p1";

  // A pack of all kernels for the problem, so that no compiler is needed.
  std::vector<std::pair<std::string, std::string>> environment() {
    std::vector<compile::PackInput> inputs;
    for (const RankedConfig& candidate : rank(*parse_problem(kText), usual_rates(Target::kSm90a), {}, Breadth::kAll)) {
      compile::Module module{.target = Target::kSm90a, .name = name_of(*candidate.config), .key = "k"};
      module.image = module.name;
      inputs.push_back({*candidate.config, module});
    }
    EXPECT_TRUE(compile::write_pack(file("p.wtpack"), compile::Backend::kNvrtc, Target::kSm90a, "tests", inputs).ok());
    return {{"WAVETILE_CUDA_DRIVER", places::kFakeCuda}, {"WAVETILE_PACK", file("p.wtpack").string()}};
  }
};

TEST_F(TuningOnFakeGpu, WrongKernelsAreLoudAndQuarantined) {
  const auto fake = environment();
  const Outcome outcome = wavetile({"tune", kText, "--device", "gpu", "--few"}, fake);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("WRONG RESULT by wt_fwd_fp32"));
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("WRONG RESULTS and are in quarantine"), HasSubstr("0 tuned")));
  const Outcome listed = wavetile({"tuning", "list"});
  EXPECT_THAT(listed.out, AllOf(HasSubstr("0 entries"), HasSubstr("IN QUARANTINE wt_fwd_fp32")));
  const Outcome explained = wavetile({"explain", kText, "--device", "gpu"}, fake);
  EXPECT_THAT(explained.out, HasSubstr("quarantined: wt_fwd_fp32"));
}

// The fake cuDNN computes, so its side is right and timed beside our wrong one, which must not get a speed-up.
TEST_F(TuningOnFakeGpu, BenchComparesWithCudnn) {
  auto fake = environment();
  fake.emplace_back("WAVETILE_CUDNN", places::kFakeCudnn);
  const std::string results = file("bench.json").string();
  const Outcome outcome = wavetile({"bench", kText, "--device", "gpu", "--compare", "cudnn", "--json", results}, fake);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("cuDNN"), HasSubstr("speed-up"), HasSubstr("WRONG")));
  const Json row = Json::parse(*read_file(results))["rows"][0];
  EXPECT_GT(row["cudnn"]["tuned"]["median_us"].get<double>(), 0);
  EXPECT_GT(row["cudnn"]["heuristic"]["median_us"].get<double>(), 0);
  EXPECT_EQ(row["cudnn"]["version"], 91900);
  EXPECT_FALSE(row.contains("speedup"));
  const Outcome report = wavetile({"report", results, "-o", file("page.html").string()});
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(*read_file(file("page.html")), HasSubstr("\"cudnn_us\":"));
}

TEST_F(TuningCommand, ComparisonNeedsAGpuAndCudnn) {
  const Outcome cpu = wavetile({"bench", "fwd fp32 n1 c3 k5 i4x4 f3x3 p1", "--device", "cpu", "--compare", "cudnn"});
  EXPECT_EQ(cpu.exit_code, 3);
  EXPECT_THAT(cpu.err, HasSubstr("--compare cudnn needs an NVIDIA GPU"));
  const Outcome absent =
      wavetile({"bench", "fwd fp32 n1 c3 k5 i4x4 f3x3 p1", "--device", "gpu", "--compare", "cudnn"},
               {{"WAVETILE_CUDA_DRIVER", places::kFakeCuda}, {"WAVETILE_CUDNN", "/nonexistent/libcudnn.so.9"}});
  EXPECT_EQ(absent.exit_code, 3);
  EXPECT_THAT(absent.err, HasSubstr("set WAVETILE_CUDNN"));
}

const char* const kCompared = R"({"date": "2026-01-02", "command": "compare.py", "machine": {"gpu": "G </script>"},
  "ceilings": {"copy_gbs": 4000.0, "bf16_tflops": 800.0},
  "rows": [{"suite": "s", "name": "a", "direction": "fwd", "problem": "fwd bf16 n2 c16 k24 i9x9 f3x3", "gflop": 0.5,
            "least_bytes": 1000, "error": "", "kernel": "wt_k", "wavetile": {"us": 10, "low_us": 9, "high_us": 11},
            "cudnn_tuned": {"us": 8}, "cudnn_heuristic": {"us": 9}},
           {"suite": "s", "name": "b", "direction": "fwd", "problem": "x", "error": "it burns"}]})";

TEST(Report, ReadsACompareFile) {
  const auto run = read_run(kCompared, "f.json");
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ((*run)["rows"].size(), 2u);
  EXPECT_EQ((*run)["rows"][0]["cudnn_us"], 8);
  EXPECT_EQ((*run)["rows"][0]["flops"], 0.5e9);
  EXPECT_EQ((*run)["rows"][1]["error"], "it burns");
  EXPECT_EQ((*run)["ceilings"]["teraflops"]["bf16"], 800);
}

// By the file's own word, and by the suite of that name for files that have none.
TEST(Report, RowsHaveTheirModel) {
  const auto row = [](const std::string& words) {
    return "{" + words + R"(, "direction": "fwd", "problem": "fwd bf16 n2 c16 k24 i9x9 f3x3"})";
  };
  const auto run = read_run("{\"rows\": [" + row(R"("suite": "s", "name": "s/a", "model": "Net")") + "," +
                                row(R"("suite": "depthwise", "name": "mbv2_960_7")") + "," +
                                row(R"("suite": "../x", "name": "b")") + "]}",
                            "f.json");
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ((*run)["rows"][0]["model"], "Net");
  EXPECT_EQ((*run)["rows"][0]["name"], "a");
  EXPECT_EQ((*run)["rows"][2]["model"], "");
  ::setenv("WAVETILE_SUITES", (std::filesystem::path(places::kSourceTree) / "bench/suites").c_str(), 1);
  EXPECT_EQ(read_run("{\"rows\": [" + row(R"("suite": "conv1d", "name": "whisper_768_s2")") + "]}", "f.json")
                .value()["rows"][0]["model"],
            "Whisper");
  const Outcome bench =
      wt::cli::testing::wavetile({"bench", "quick", "--filter", "resnet50.l3.conv3", "--direction", "fwd", "--device",
                                  "cpu", "--no-target", "--no-roof", "--repeat", "1", "--json", "-"});
  ::unsetenv("WAVETILE_SUITES");
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  const Json written = Json::parse(bench.out)["rows"][0];
  EXPECT_EQ(written["suite"], "quick");
  EXPECT_EQ(written["model"], "ResNet-50");
}

TEST(Report, ReadsABenchFile) {
  const Outcome bench = wt::cli::testing::wavetile(
      {"bench", "fwd fp32 n1 c3 k5 i4x4 f3x3 p1", "--device", "cpu", "--no-target", "--repeat", "2", "--json", "-"});
  ASSERT_EQ(bench.exit_code, 0) << bench.err;
  const auto run = read_run(bench.out, "bench.json");
  ASSERT_TRUE(run.ok()) << run.status().message();
  const auto& row = (*run)["rows"][0];
  EXPECT_GT(row["us"].get<double>(), 0);
  EXPECT_EQ(row["bytes"], 4 * (48 + 135 + 80));
  EXPECT_EQ(row["flops"], 2.0 * 16 * 5 * 27);
}

TEST(Report, ThePageIsWholeAndRefersToNothing) {
  const std::string page = report_page({*read_run(kCompared, "f.json")}, nlohmann::ordered_json::array());
  EXPECT_THAT(page, AllOf(HasSubstr("<!DOCTYPE html>"), HasSubstr("id=\"roofline\""), HasSubstr("it burns")));
  EXPECT_THAT(page, AllOf(Not(HasSubstr("@DATA@")), Not(HasSubstr("@SCRIPT@")), Not(HasSubstr("@STYLE@"))));
  EXPECT_THAT(page, Not(HasSubstr("G </script>"))) << "data must not end its element";
  EXPECT_THAT(page, AllOf(Not(HasSubstr("src=\"")), Not(HasSubstr("https://")), Not(HasSubstr("@import"))));
}

// The hashes are those of the page's own script and style, whatever the data are.
TEST(Report, ThePageAllowsOnlyItsOwnScriptAndStyle) {
  const std::string page = report_page({*read_run(kCompared, "f.json")}, nlohmann::ordered_json::array());
  const auto element = [&](const std::string& name) {
    const size_t begin = page.find("<" + name + ">") + name.size() + 2;
    return compile::sha256_hex(page.substr(begin, page.find("</" + name + ">", begin) - begin));
  };
  const auto allowed = [&](const std::string& source) {
    const std::string start = source + " 'sha256-";
    const size_t begin = page.find(start) + start.size();
    const std::string text = page.substr(begin, page.find('\'', begin) - begin);
    std::string hex;
    uint32_t bits = 0;
    int count = 0;
    for (const char c : text.substr(0, text.find('='))) {
      const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      bits = bits << 6 | static_cast<uint32_t>(digits.find(c));
      for (count += 6; count >= 4; count -= 4) hex += "0123456789abcdef"[bits >> (count - 4) & 15];
    }
    return hex;
  };
  EXPECT_EQ(allowed("script-src"), element("script"));
  EXPECT_EQ(allowed("style-src"), element("style"));
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("unsafe-inline")));
  EXPECT_THAT(page, Not(HasSubstr(" style="))) << "the policy forbids it";
}

TEST(Report, RefusesNestedFiles) {
  std::string deep(300'000, '[');
  deep.append(300'000, ']');
  EXPECT_THAT(read_run("{\"rows\": " + deep + "}", "f").status().message(), HasSubstr("nested deeper than 64 levels"));
}

TEST(Report, RefusesWhatIsNoResult) {
  EXPECT_THAT(read_run("nothing", "f").status().message(), HasSubstr("f cannot be reported: it is no JSON"));
  EXPECT_THAT(read_run("{\"rows\": []}", "f").status().message(), HasSubstr("f holds no rows"));
  EXPECT_THAT(read_run("{\"rows\": [3]}", "f").status().message(), HasSubstr("no object"));
  const Outcome outcome = wt::cli::testing::wavetile({"report", "/nonexistent.json"});
  EXPECT_EQ(outcome.exit_code, 2);
}

}  // namespace
}  // namespace wt::cli::testing
