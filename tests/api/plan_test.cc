// SPDX-License-Identifier: Apache-2.0
// Plans on the CPU: every direction, layout, dimension and epilogue through the C API, against the reference.
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "handles.h"

using namespace wavetile_test;

class PlanTest : public testing::TestWithParam<const char*> {};

TEST_P(PlanTest, VerifiesOnRandomAndOnExactData) {
  const Device device = open_device();
  const Problem problem = parse(GetParam());
  ASSERT_TRUE(problem);
  const Plan plan = make_plan(device, problem);
  ASSERT_TRUE(plan);
  wavetile_verify_options options;
  wavetile_verify_options_init(&options);
  options.exhaustive = 1;
  for (const int exact : {0, 1}) {
    options.exact = exact;
    auto report = sized<wavetile_verify_report>();
    ASSERT_TRUE(succeeded(wavetile_plan_verify(plan.get(), 5, &options, &report)));
    EXPECT_GT(report.elements, 0);
    EXPECT_EQ(report.compared, report.elements);
    EXPECT_EQ(report.wrong + report.unwritten + report.nan + report.amax_wrong, 0);
    EXPECT_EQ(report.index, -1);
    EXPECT_LE(report.worst, 1);
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, PlanTest,
                         testing::Values("fwd fp32 n2 c8 k12 i9x9 f3x3 p1",                                    //
                                         "bwd_data fp32 n2 c8 k12 i9x9 f3x3 p1",                               //
                                         "bwd_weight fp32 n2 c8 k12 i9x9 f3x3 p1",                             //
                                         "fwd bf16 n2 c16 k8 i11x7 f3x5 s2 p1x2 +bias+relu",                   //
                                         "bwd_data bf16 n2 c16 k8 i11x7 f3x5 s2 p1x2",                         //
                                         "bwd_weight bf16 n2 c16 k8 i11x7 f3x5 s2 p1x2",                       //
                                         "fwd fp16 NCHW n1 g4 c8 k16 i8x8 f3x3 p1 +scale+bias+residual+silu",  //
                                         "bwd_data fp16 NCHW n1 g4 c8 k16 i8x8 f3x3 p1",                       //
                                         "bwd_weight fp16 NCHW n1 g4 c8 k16 i8x8 f3x3 p1",                     //
                                         "fwd fp32 n2 g12 c12 k12 i20 f5 p2",                                  //
                                         "bwd_data fp32 n2 g12 c12 k12 i20 f5 p2",                             //
                                         "bwd_weight fp32 n2 g12 c12 k12 i20 f5 p2",                           //
                                         "fwd bf16 n1 c4 k6 i5x6x7 f3x3x3 p1 +amax",                           //
                                         "bwd_data bf16 n1 c4 k6 i5x6x7 f3x3x3 p1",                            //
                                         "bwd_weight bf16 n1 c4 k6 i5x6x7 f3x3x3 p1"));

namespace {

// A 1x1 convolution of one pixel is a matrix times a vector, so the answer is known without a reference.
struct Pixel {
  alignas(64) float x[2] = {3, 4};
  alignas(64) float w[2] = {10, 100};
  alignas(64) float y[1] = {-1};
  wavetile_tensors tensors = sized<wavetile_tensors>();
  Pixel() {
    tensors.x = x;
    tensors.w = w;
    tensors.y = y;
  }
};

std::vector<uint8_t> workspace_of(const Plan& plan, void*& aligned) {
  std::vector<uint8_t> memory(static_cast<size_t>(wavetile_plan_workspace_bytes(plan.get())) + 256);
  aligned = memory.data() + (256 - reinterpret_cast<uintptr_t>(memory.data()) % 256) % 256;
  return memory;
}

}  // namespace

TEST(Plan, ComputesAKnownAnswer) {
  const Device device = open_device();
  Pixel pixel;
  const Plan forward = make_plan(device, parse("fwd fp32 n1 c2 k1 i1x1 f1x1"));
  void* workspace = nullptr;
  const auto memory = workspace_of(forward, workspace);
  ASSERT_TRUE(succeeded(wavetile_plan_execute(forward.get(), nullptr, &pixel.tensors, workspace, memory.size() - 256)));
  EXPECT_EQ(pixel.y[0], 430);

  pixel.y[0] = 2;
  const Plan data = make_plan(device, parse("bwd_data fp32 n1 c2 k1 i1x1 f1x1"));
  const auto data_memory = workspace_of(data, workspace);
  ASSERT_TRUE(
      succeeded(wavetile_plan_execute(data.get(), nullptr, &pixel.tensors, workspace, data_memory.size() - 256)));
  EXPECT_EQ(pixel.x[0], 20);
  EXPECT_EQ(pixel.x[1], 200);

  const Plan weight = make_plan(device, parse("bwd_weight fp32 n1 c2 k1 i1x1 f1x1"));
  const auto weight_memory = workspace_of(weight, workspace);
  ASSERT_TRUE(
      succeeded(wavetile_plan_execute(weight.get(), nullptr, &pixel.tensors, workspace, weight_memory.size() - 256)));
  EXPECT_EQ(pixel.w[0], 40);
  EXPECT_EQ(pixel.w[1], 400);
}

TEST(Plan, AResidualMayBeTheOutput) {
  const Device device = open_device();
  Pixel pixel;
  pixel.y[0] = 1000;
  pixel.tensors.residual = pixel.y;
  const Plan plan = make_plan(device, parse("fwd fp32 n1 c2 k1 i1x1 f1x1 +residual"));
  void* workspace = nullptr;
  const auto memory = workspace_of(plan, workspace);
  ASSERT_TRUE(succeeded(wavetile_plan_execute(plan.get(), nullptr, &pixel.tensors, workspace, memory.size() - 256)));
  EXPECT_EQ(pixel.y[0], 1430);
}

TEST(Plan, AnEmptyBatchNeedsNoImagesAndZeroesTheGradient) {
  const Device device = open_device();
  auto tensors = sized<wavetile_tensors>();
  alignas(64) float w[4] = {5, 5, 5, 5};
  tensors.w = w;
  const Plan forward = make_plan(device, parse("fwd fp32 n0 c2 k2 i3x3 f1x1"));
  ASSERT_TRUE(forward);
  void* workspace = nullptr;
  const auto forward_memory = workspace_of(forward, workspace);
  EXPECT_TRUE(
      succeeded(wavetile_plan_execute(forward.get(), nullptr, &tensors, workspace, forward_memory.size() - 256)));
  const Plan weight = make_plan(device, parse("bwd_weight fp32 n0 c2 k2 i3x3 f1x1"));
  ASSERT_TRUE(weight);
  const auto memory = workspace_of(weight, workspace);
  EXPECT_TRUE(succeeded(wavetile_plan_execute(weight.get(), nullptr, &tensors, workspace, memory.size() - 256)));
  EXPECT_EQ(std::vector<float>(w, w + 4), std::vector<float>(4, 0.0f));
}

TEST(Plan, SaysWhatItRunsAndWhy) {
  const Device device = open_device();
  const Problem problem = parse("fwd fp32 n1 c4 k8 i5x5 f3x3 p1");
  const Plan plan = make_plan(device, problem);
  auto info = sized<wavetile_plan_info>();
  ASSERT_TRUE(succeeded(wavetile_plan_get_info(plan.get(), &info)));
  EXPECT_NE(std::string(info.kernel), "");
  EXPECT_NE(std::string(info.reason), "");
  EXPECT_EQ(info.workspace_bytes, wavetile_plan_workspace_bytes(plan.get()));
  const std::string json = wavetile_plan_json(plan.get());
  EXPECT_EQ(json.front(), '{');
  EXPECT_EQ(json.back(), '}');
  EXPECT_NE(json.find(std::string("\"problem\":\"") + wavetile_problem_text(problem.get()) + "\""), std::string::npos);
  EXPECT_NE(json.find("\"device\":\"cpu\""), std::string::npos);
}

TEST(Plan, ExplainNamesWhatWouldRun) {
  const Device device = open_device();
  const Problem problem = parse("fwd fp32 n1 c4 k8 i5x5 f3x3 p1");
  const Plan plan = make_plan(device, problem);
  auto info = sized<wavetile_plan_info>();
  ASSERT_TRUE(succeeded(wavetile_plan_get_info(plan.get(), &info)));
  for (const wavetile_format format : {WAVETILE_FORMAT_TEXT, WAVETILE_FORMAT_JSON}) {
    char* report = nullptr;
    ASSERT_TRUE(succeeded(wavetile_explain(device.get(), problem.get(), nullptr, format, &report)));
    EXPECT_NE(std::string(report).find(info.kernel), std::string::npos) << report;
    wavetile_string_free(report);
  }
}

TEST(Verify, FindsOneWrongElement) {
  const Device device = open_device();
  const Problem problem = parse("fwd fp32 n1 c4 k8 i6x6 f3x3 p1");
  const Plan plan = make_plan(device, problem);
  std::vector<float> x(6 * 6 * 4), w(8 * 9 * 4), y(6 * 6 * 8);
  auto tensors = sized<wavetile_tensors>();
  tensors.x = x.data();
  tensors.w = w.data();
  tensors.y = y.data();
  ASSERT_TRUE(succeeded(wavetile_fill_tensors(problem.get(), WAVETILE_FILL_RANDOM, 1, &tensors)));
  // Not executed yet: every element is still poisoned.
  auto report = sized<wavetile_verify_report>();
  EXPECT_EQ(wavetile_verify(problem.get(), &tensors, nullptr, &report), WAVETILE_VERIFICATION_FAILED);
  EXPECT_EQ(report.unwritten, report.elements);

  void* workspace = nullptr;
  const auto memory = workspace_of(plan, workspace);
  ASSERT_TRUE(succeeded(wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace, memory.size() - 256)));
  EXPECT_TRUE(succeeded(wavetile_verify(problem.get(), &tensors, nullptr, &report)));
  EXPECT_EQ(report.elements, static_cast<int64_t>(y.size()));

  y[77] += 0.01f;
  EXPECT_EQ(wavetile_verify(problem.get(), &tensors, nullptr, &report), WAVETILE_VERIFICATION_FAILED);
  EXPECT_EQ(report.wrong, 1);
  EXPECT_EQ(report.index, 77);
  EXPECT_FLOAT_EQ(static_cast<float>(report.got), y[77]);
  EXPECT_GT(report.worst, 1);
}

TEST(Fill, GivesTheSameBytesForTheSameSeed) {
  const Problem problem = parse("fwd bf16 n1 c4 k8 i6x6 f3x3 p1");
  std::vector<uint16_t> first(6 * 6 * 4), second(first.size()), other(first.size());
  const auto fill = [&](std::vector<uint16_t>& x, uint64_t seed) {
    auto tensors = sized<wavetile_tensors>();
    tensors.x = x.data();
    return wavetile_fill_tensors(problem.get(), WAVETILE_FILL_RANDOM, seed, &tensors);
  };
  ASSERT_TRUE(succeeded(fill(first, 9)));
  ASSERT_TRUE(succeeded(fill(second, 9)));
  ASSERT_TRUE(succeeded(fill(other, 10)));
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
}

TEST(Plan, ADeviceRemembersItsPlans) {
  const Device device = open_device();
  const Problem problem = parse("fwd fp32 n2 c8 k12 i9x9 f3x3 p1");
  const Plan first = make_plan(device, problem), again = make_plan(device, parse("fwd fp32 n2 c8 k12 i9x9 f3x3 p1"));
  EXPECT_EQ(wavetile_plan_json(first.get()), wavetile_plan_json(again.get())) << "the same record";
  wavetile_plan_options options;
  wavetile_plan_options_init(&options);
  options.kernel = "builtin";
  const Plan other = make_plan(device, problem, &options);
  EXPECT_NE(wavetile_plan_json(first.get()), wavetile_plan_json(other.get()));
}

// A kernel's name does not say into how many parts it divides its sums, and those must not change with the batch.
TEST(Plan, ABatchInvariantOneKeepsItsPartsWhenItIsSaved) {
  const Device device = open_device("sim:sm_90a");
  wavetile_plan_options options;
  wavetile_plan_options_init(&options);
  options.batch_invariant = 1;
  std::string saved[2];
  for (const int images : {1, 5}) {
    const Problem problem = parse("fwd bf16 n" + std::to_string(images) + " c2048 k64 i7x7 f3x3 p1");
    const Plan plan = make_plan(device, problem, &options);
    ASSERT_TRUE(plan);
    char* bytes = nullptr;
    size_t size = 0;
    ASSERT_TRUE(succeeded(wavetile_plan_save(plan.get(), &bytes, &size)));
    const std::string text(bytes, size);
    wavetile_string_free(bytes);
    EXPECT_NE(text.find("\"batch_invariant\":true"), std::string::npos) << text;
    wavetile_plan* loaded = nullptr;
    ASSERT_TRUE(succeeded(wavetile_plan_load(device.get(), text.data(), text.size(), &loaded)));
    const Plan again(loaded, wavetile_plan_destroy);
    EXPECT_EQ(wavetile_plan_workspace_bytes(again.get()), wavetile_plan_workspace_bytes(plan.get()));
    // "splits":6, ..
    const size_t at = text.find("\"splits\":") + 9;
    saved[images > 1] = text.substr(at, text.find(',', at) - at);
  }
  EXPECT_GT(std::stoi(saved[0]), 1) << "the problem is one whose sums are divided";
  EXPECT_EQ(saved[0], saved[1]);
}
