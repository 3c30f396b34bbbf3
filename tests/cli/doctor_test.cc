// SPDX-License-Identifier: Apache-2.0
// What `wavetile doctor` reads and says: problem lines, traces of PyTorch's profiler, tables, JSON and the page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/files.h"
#include "tests/cli/subprocess.h"

namespace wt::cli::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

std::string file_with(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / ("wavetile_doctor_" + name);
  EXPECT_TRUE(write_file(path, text, FileKind::kDurable).ok());
  return path.string();
}

// As python -m wavetile.torch.doctor writes them; the third line is the first layer again.
const std::string kLines =
    "# The convolutions of a model, recorded by wavetile.torch.doctor; those that took longest first.\n"
    "# 4 calls, 31.2 us each by torch\n"
    "layer0: fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1\n"
    "good: fwd bf16 n16 c256 k256 i56x56 f3x3 p1\n"
    "fwd bf16 NCHW n16 c256 k256 i50x50 f3x3 p1\n"
    "bwd_weight bf16 n16 c50 k50 i56x56 f3x3 p1\n";

// A forward call with a bias, a transposed backward call that gives all three gradients, channels last, and one in a
// type that is left out. Kernels of the first: 5 and 2.5 us.
Json trace() {
  const auto call = [](const char* name, double at, Json dims, Json strides, Json types, Json values) {
    return Json{
        {"name", name},
        {"tid", 1},
        {"ts", at},
        {"dur", 20.0},
        {"args",
         {{"Input Dims", dims}, {"Input Strides", strides}, {"Input type", types}, {"Concrete Inputs", values}}}};
  };
  const auto launch = [](double at, int number) {
    return Json{{"name", "cudaLaunchKernel"},       {"cat", "cuda_runtime"}, {"tid", 1}, {"ts", at}, {"dur", 1.0},
                {"args", {{"correlation", number}}}};
  };
  const auto kernel = [](int number, double us) {
    return Json{{"name", "k"}, {"cat", "kernel"}, {"tid", 7},
                {"ts", 100.0}, {"dur", us},       {"args", {{"correlation", number}}}};
  };
  const Json forward = {"", "", "", "[2, 2]", "[1, 1]", "[1, 1]", "False", "[0, 0]", "1"};
  return {{"traceEvents",
           {call("aten::convolution", 10, {{2, 3, 12, 11}, {8, 3, 3, 3}, {8}}, {{396, 132, 11, 1}, {27, 9, 3, 1}, {1}},
                 {"float", "float", "float"}, forward),
            launch(12, 1), kernel(1, 5.0), launch(15, 2), kernel(2, 2.5), launch(31, 3), kernel(3, 9.0),
            call("aten::convolution_backward", 50, {{2, 4, 11, 9}, {2, 8, 5, 4}, {8, 2, 3, 3}},
                 {{396, 1, 36, 4}, {160, 1, 32, 8}, {18, 9, 3, 1}}, {"c10::BFloat16", "c10::BFloat16", "c10::BFloat16"},
                 {"", "", "", "[4]", "[2, 2]", "[0, 0]", "[1, 1]", "True", "[0, 1]", "2", "[True, True, True]"}),
            call("aten::convolution", 90, {{1, 2, 7}, {2, 2, 3}, {}}, {{14, 7, 1}, {6, 3, 1}, {}},
                 {"double", "double", ""}, {"", "", "", "[1]", "[0]", "[1]", "False", "[0]", "1"})}}};
}

Json rows_of(const std::string& file, std::vector<std::string> words = {"--target", "sm_90a"}) {
  words.insert(words.begin(), {"doctor", file, "--json"});
  const Outcome outcome = wavetile(words);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  return Json::parse(outcome.out)["rows"];
}

TEST(DoctorCommand, ReadsLinesAndSortsByWhatCanBeGained) {
  const Json rows = rows_of(file_with("lines.txt", kLines));
  ASSERT_EQ(rows.size(), 3u);
  double before = 1e300;
  for (const Json& row : rows) {
    EXPECT_LE(row["gain_us"], before);
    before = row["gain_us"];
    EXPECT_GT(row["predicted_us"], 0);
    EXPECT_GT(row["limit_us"], 0);
    EXPECT_NEAR(row["share"].get<double>(), row["limit_us"].get<double>() / row["predicted_us"].get<double>(), 1e-9);
    EXPECT_FALSE(row["wrong"]);
    if (row["name"] == "good") {
      EXPECT_EQ(row["gain_us"], 0);
      EXPECT_TRUE(row["advice"].empty());
    }
    if (row["name"] != "layer0") continue;
    EXPECT_EQ(row["calls"], 5);  // four and the line without a name
    EXPECT_GT(row["workspace_bytes"], 0);
    const Json& advice = row["advice"][0];
    EXPECT_EQ(advice["change"], "NHWC instead of NCHW");
    EXPECT_NEAR(row["gain_us"].get<double>(),
                5 * row["predicted_us"].get<double>() * (1 - advice["share"].get<double>()), 1e-6);
  }
}

TEST(DoctorCommand, ReadsTracesOfTorch) {
  const std::string file = file_with("trace.json", trace().dump());
  const Outcome outcome = wavetile({"doctor", file, "--target", "sm_90a"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("left out: convolutions of double by double"));
  std::map<std::string, double> torch_us;
  for (const Json& row : rows_of(file)) torch_us[row["problem"]] = row.value("torch_us", 0.0);
  ASSERT_EQ(torch_us.size(), 3u);
  EXPECT_EQ(torch_us["fwd fp32 n2 c3 k8 i12x11 f3x3 s2 p1 NCHW +bias"], 7.5) << Json(torch_us).dump();
  // Of the transposed layer of 8 channels to 4 in 2 groups, without kernels of its own.
  EXPECT_TRUE(torch_us.contains("fwd bf16 n2 g2 c4 k8 i11x10 f3x3 s2") ||
              torch_us.contains("fwd bf16 n2 c4 k8 g2 i11x10 f3x3 s2"))
      << Json(torch_us).dump();
}

// As a table in a pipe, nothing wider than a terminal but names, which have no spaces to be wrapped at.
TEST(DoctorCommand, IsReadableInEightyColumns) {
  const Outcome outcome = wavetile({"doctor", file_with("lines.txt", kLines), "--gpu", "H100 PCIe"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              AllOf(HasSubstr("predicted for H100 PCIe (sm_90a); nothing is run"), HasSubstr("to gain"),
                    HasSubstr("NHWC instead of NCHW: "), HasSubstr("torch    31.2 us where it was recorded"),
                    HasSubstr("3 layers, 7 calls: "), HasSubstr("; 0 wrong"), Not(HasSubstr("cuDNN"))));
  for (size_t at = 0; at < outcome.out.size();) {
    const size_t end = std::min(outcome.out.find('\n', at), outcome.out.size());
    const std::string line = outcome.out.substr(at, end - at);
    const bool is_name = line.find("wt_") != std::string::npos;
    EXPECT_TRUE(is_name || line.size() <= 80) << line;
    at = end + 1;
  }
}

TEST(DoctorCommand, RunsAndVerifiesWhereItIsToldTo) {
  const std::string file = file_with("small.txt", "a: fwd fp32 n1 c8 k8 i9x9 f3x3 p1\n");
  const Json rows = rows_of(file, {"--device", "cpu"});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_TRUE(rows[0]["verification"]["verified"].get<bool>()) << rows[0].dump();
  EXPECT_GT(rows[0]["timing"]["median_us"], 0);
  const Json simulated = rows_of(file, {"--device", "sim:sm_80"});
  EXPECT_TRUE(simulated[0]["verification"]["verified"].get<bool>()) << simulated[0].dump();
  EXPECT_FALSE(simulated[0].contains("timing"));
  EXPECT_GT(simulated[0]["share"], 0);
}

TEST(DoctorCommand, WritesAPage) {
  const std::string page = (std::filesystem::path(::testing::TempDir()) / "wavetile_doctor.html").string();
  const Outcome outcome =
      wavetile({"doctor", file_with("lines.txt", kLines), "--target", "sm_90a", "--page", page, "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const Result<std::string> text = read_file(page);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, AllOf(HasSubstr("\"advice\":\"NHWC instead of NCHW\""), HasSubstr("\"predicted\":true"),
                           HasSubstr("what to change")));
}

TEST(DoctorCommand, RefusesWhatItCannotRead) {
  const auto refusal = [](const std::string& name, const std::string& text) {
    const Outcome outcome = wavetile({"doctor", file_with(name, text), "--target", "sm_90a"});
    EXPECT_EQ(outcome.exit_code, 2) << text;
    return outcome.err;
  };
  EXPECT_THAT(refusal("empty.txt", "# nothing\n"), HasSubstr("has no problems"));
  EXPECT_THAT(refusal("wrong.txt", "a: fwd bf16 n1\n"), HasSubstr("wrong.txt:1"));
  EXPECT_THAT(refusal("code.txt", "a: fwd bf16 n1 c8 k8 i9 f3 +f=\"value\"\n"), HasSubstr("--allow-code"));
  EXPECT_THAT(refusal("other.json", "{\"rows\": []}"), HasSubstr("without traceEvents"));
  Json shapeless = trace();
  shapeless["traceEvents"][0]["args"].erase("Input Strides");
  EXPECT_THAT(refusal("shapeless.json", shapeless.dump()), HasSubstr("record_shapes=True"));
  Json none;
  none["traceEvents"].push_back(trace()["traceEvents"].back());
  EXPECT_THAT(refusal("none.json", none.dump()), HasSubstr("convolutions of double by double"));
  // Numbers of strangers reach the parser of problems as text.
  Json wild = trace();
  wild["traceEvents"][0]["args"]["Input Dims"][0] = {9223372036854775807, 3, 12, 11};
  wild["traceEvents"].erase(8);
  const Outcome outcome = wavetile({"doctor", file_with("wild.json", wild.dump()), "--target", "sm_90a"});
  EXPECT_THAT(outcome.err, HasSubstr("left out: "));
}

}  // namespace
}  // namespace wt::cli::testing
