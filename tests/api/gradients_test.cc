// SPDX-License-Identifier: Apache-2.0
// Transposed convolutions, bias gradients and histories through the C API and the C++ layer, on the CPU.
#include <wavetile/wavetile.hpp>

#include <cstring>
#include <vector>

#include "handles.h"

using wavetile_test::default_desc;
using wavetile_test::open_device;
using wavetile_test::parse;
using wavetile_test::sized;
using wavetile_test::succeeded;

namespace {

// ConvTranspose2d(2, 3, (3, 2), stride=2, padding=(1, 0), output_padding=(1, 0)) on 3x2, fp32.
wavetile_problem_desc transposed_desc() {
  wavetile_problem_desc desc = default_desc();
  desc.x_type = desc.w_type = desc.y_type = WAVETILE_F32;
  desc.c = 2, desc.k = 3;
  desc.in[0] = 3, desc.in[1] = 2;
  desc.filter[0] = 3, desc.filter[1] = 2;
  desc.stride[0] = desc.stride[1] = 2;
  desc.pad_lower[0] = desc.pad_upper[0] = 1;
  return desc;
}
constexpr int64_t kOutputPadding[3] = {1, 0, 0};

std::string error_of(wavetile_status status) {
  EXPECT_EQ(status, WAVETILE_BAD_INPUT);
  return wavetile_last_error();
}

}  // namespace

TEST(TransposedApi, ComputesByItsDefinition) {
  using namespace wavetile;
  const Result<Device> device = Device::open("cpu");
  ASSERT_TRUE(device.ok());
  ProblemFields fields;
  fields.x = fields.w = fields.y = Type::kF32;
  fields.n = 2, fields.c = 2, fields.k = 3;
  fields.in = {3, 2}, fields.filter = {3, 2}, fields.stride = 2, fields.pad_lower = {1, 0};
  fields.bias = true, fields.activation = Activation::kRelu;
  const Result<Problem> problem = Problem::transposed(fields, {1, 0});
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  const TensorInfo output = problem->tensor(Role::kTransposedOutput), input = problem->tensor(Role::kTransposedInput);
  // (3-1)*2 - 1 - 1 + 2 + 1 + 1 = 6 and (2-1)*2 + 1 + 1 = 4
  EXPECT_EQ(std::vector<int64_t>(output.shape, output.shape + 4), (std::vector<int64_t>{2, 6, 4, 3}));
  EXPECT_EQ(std::vector<int64_t>(input.shape, input.shape + 4), (std::vector<int64_t>{2, 3, 2, 2}));
  EXPECT_EQ(output.use, WAVETILE_WRITTEN);
  EXPECT_EQ(input.use, WAVETILE_READ);
  EXPECT_EQ(problem->tensor(Role::kBias).elements, 3);

  alignas(64) float in[24], w[36], bias[3] = {1, -2, 3}, out[144];
  for (int i = 0; i < 24; ++i) in[i] = static_cast<float>(i % 7 - 3);
  for (int i = 0; i < 36; ++i) w[i] = static_cast<float>(i % 5 - 2);
  const Result<Plan> plan = Plan::create(*device, *problem);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const Result<Buffer> workspace = Buffer::allocate(*device, plan->workspace_bytes());
  ASSERT_TRUE(workspace.ok());
  TransposedTensors tensors;
  tensors.input = in, tensors.w = w, tensors.output = out, tensors.bias = bias;
  const Status status = plan->execute(tensors, *workspace);
  ASSERT_TRUE(status.ok()) << status.message();

  std::vector<float> right(144);
  for (size_t i = 0; i < right.size(); ++i) right[i] = bias[i % 3];
  for (int n = 0; n < 2; ++n)
    for (int h = 0; h < 3; ++h)
      for (int v = 0; v < 2; ++v)
        for (int r = 0; r < 3; ++r)
          for (int s = 0; s < 2; ++s)
            for (int ci = 0; ci < 2; ++ci)
              for (int co = 0; co < 3; ++co) {
                const int y = h * 2 - 1 + r, x = v * 2 + s;
                if (y < 0 || y >= 6 || x >= 4) continue;
                // The filter is (input channels, taps, output channels).
                right[static_cast<size_t>(((n * 6 + y) * 4 + x) * 3 + co)] +=
                    in[((n * 3 + h) * 2 + v) * 2 + ci] * w[((ci * 3 + r) * 2 + s) * 3 + co];
              }
  for (size_t i = 0; i < right.size(); ++i) EXPECT_EQ(out[i], std::max(0.0f, right[i])) << i;
}

TEST(TransposedApi, SpeaksOfItsOwnSizes) {
  wavetile_problem_desc desc = transposed_desc();
  int64_t size[3] = {0, 0, 0};
  ASSERT_TRUE(succeeded(wavetile_transposed_output_size(&desc, kOutputPadding, size)));
  EXPECT_EQ(std::vector<int64_t>(size, size + 3), (std::vector<int64_t>{6, 4, 1}));
  ASSERT_TRUE(succeeded(wavetile_transposed_output_size(&desc, nullptr, size)));
  EXPECT_EQ(size[0], 5);
  const int64_t large[3] = {0, 2, 0};
  EXPECT_NE(error_of(wavetile_transposed_output_size(&desc, large, size)).find("output_padding w=2 with stride 2"),
            std::string::npos);
  desc.padding = WAVETILE_PADDING_SAME;
  EXPECT_NE(error_of(wavetile_transposed_output_size(&desc, nullptr, size)).find("cannot be worked out"),
            std::string::npos);
  wavetile_problem* problem = nullptr;
  desc = transposed_desc();
  desc.bias_gradient = WAVETILE_BIAS_GRADIENT_OF_Y;
  EXPECT_NE(error_of(wavetile_problem_create_transposed(&desc, nullptr, &problem)).find("backward weight pass"),
            std::string::npos);
  desc.direction = WAVETILE_BACKWARD_WEIGHT;
  ASSERT_TRUE(succeeded(wavetile_problem_create_transposed(&desc, kOutputPadding, &problem)));
  EXPECT_STREQ(wavetile_problem_text(problem), "bwd_weight fp32 n1 c3 k2 i6x4 f3x2 s2 p1x0 bias_gradient=x");
  EXPECT_EQ(wavetile_problem_tensor_bytes(problem, WAVETILE_ROLE_BIAS_GRADIENT), 3 * 4);
  wavetile_problem_desc back = sized<wavetile_problem_desc>();
  ASSERT_TRUE(succeeded(wavetile_problem_get_desc(problem, &back)));
  EXPECT_EQ(back.bias_gradient, WAVETILE_BIAS_GRADIENT_OF_X);
  wavetile_problem_destroy(problem);
  EXPECT_EQ(wavetile_problem_create_transposed(nullptr, nullptr, &problem), WAVETILE_BAD_INPUT);
}

TEST(BiasGradientApi, SumsAloneAndWithTheWeights) {
  const auto device = open_device();
  const auto problem = parse("bwd_weight bf16 n2 c4 k5 i4x4 f3x3 p1 bias_gradient");
  const auto plan = wavetile_test::make_plan(device, problem);
  auto report = sized<wavetile_verify_report>();
  ASSERT_TRUE(succeeded(wavetile_plan_verify(plan.get(), 3, nullptr, &report)));
  EXPECT_EQ(report.bias_gradient_wrong, 0);

  wavetile_bias_gradient* gradient = nullptr;
  ASSERT_TRUE(succeeded(wavetile_bias_gradient_create(device.get(), problem.get(), WAVETILE_ROLE_Y, &gradient)));
  alignas(64) uint16_t dy[160];
  alignas(64) float sums[8];
  std::vector<float> values(160), right(5);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(i % 9) - 4;
    right[i % 5] += values[i];
  }
  ASSERT_TRUE(succeeded(wavetile_from_float(WAVETILE_BF16, values.data(), values.size(), dy)));
  ASSERT_TRUE(succeeded(wavetile_bias_gradient_execute(gradient, nullptr, dy, sums, nullptr, 0)));
  EXPECT_EQ(std::vector<float>(sums, sums + 5), right);
  EXPECT_NE(error_of(wavetile_bias_gradient_execute(gradient, nullptr, nullptr, sums, nullptr, 0)).find("NULL"),
            std::string::npos);
  EXPECT_NE(error_of(wavetile_bias_gradient_execute(gradient, nullptr, dy, sums + 1, nullptr, 0)).find("aligned"),
            std::string::npos);
  wavetile_bias_gradient_destroy(gradient);
  EXPECT_NE(error_of(wavetile_bias_gradient_create(device.get(), problem.get(), WAVETILE_ROLE_W, &gradient))
                .find("role=1 has no bias gradient"),
            std::string::npos);
}

// A long sequence in pieces, each with the history that the one before gave, equals the whole in one go.
TEST(HistoryApi, GoesOnWhereTheLastCallEnded) {
  const auto device = open_device();
  constexpr int kLength = 12, kChannels = 3, kPiece = 2, kTaps = 4;  // pieces shorter than the history
  const auto whole = parse("fwd fp32 n1 c3 k3 g3 i12 f4 pcausal +bias+silu");
  const auto piece = parse("fwd fp32 n1 c3 k3 g3 i2 f4 pcausal history new_history +bias+silu");
  const auto plan_whole = wavetile_test::make_plan(device, whole), plan = wavetile_test::make_plan(device, piece);
  ASSERT_TRUE(plan_whole && plan);
  auto info = sized<wavetile_tensor_info>();
  ASSERT_TRUE(succeeded(wavetile_problem_tensor(piece.get(), WAVETILE_ROLE_HISTORY, &info)));
  EXPECT_EQ(std::vector<int64_t>(info.shape, info.shape + info.rank), (std::vector<int64_t>{1, kTaps - 1, kChannels}));

  alignas(64) float x[kLength * kChannels], w[16], bias[4] = {0.5f, -1, 2}, y[kLength * kChannels], z[kPiece * 4];
  alignas(64) float history[16] = {}, part[8];
  for (int i = 0; i < kLength * kChannels; ++i) x[i] = static_cast<float>(i * 5 % 11) - 5;
  for (int i = 0; i < 12; ++i) w[i] = static_cast<float>(i % 5) - 2;
  auto tensors = sized<wavetile_tensors>();
  tensors.x = x, tensors.w = w, tensors.y = y, tensors.bias = bias;
  std::vector<char> scratch(static_cast<size_t>(std::max(wavetile_plan_workspace_bytes(plan.get()),
                                                         wavetile_plan_workspace_bytes(plan_whole.get()))) +
                            256);
  void* workspace = scratch.data() + (256 - reinterpret_cast<uintptr_t>(scratch.data()) % 256);
  ASSERT_TRUE(succeeded(wavetile_plan_execute(plan_whole.get(), nullptr, &tensors, workspace, scratch.size() - 256)));
  tensors.x = part, tensors.y = z, tensors.history = tensors.new_history = history;
  for (int at = 0; at < kLength; at += kPiece) {
    std::memcpy(part, x + at * kChannels, kPiece * kChannels * sizeof(float));
    ASSERT_TRUE(succeeded(wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace, scratch.size() - 256)));
    for (int i = 0; i < kPiece * kChannels; ++i) EXPECT_EQ(z[i], y[at * kChannels + i]) << at << " " << i;
  }
  tensors.new_history = part;
  EXPECT_NE(error_of(wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace, scratch.size() - 256))
                .find("only the history may be"),
            std::string::npos);
  tensors.new_history = history, tensors.history = nullptr;
  EXPECT_NE(error_of(wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace, scratch.size() - 256))
                .find("tensor history is NULL"),
            std::string::npos);
}

// The gradients of the pieces, from the last to the first, each with the gradient of its new history that the next one
// gave: those of the whole.
TEST(HistoryApi, PassesGradientsBackThroughThePieces) {
  const auto device = open_device();
  constexpr int kLength = 12, kChannels = 4, kPiece = 2, kState = 3;
  const auto whole = parse("bwd_data fp32 n1 c4 k4 i12 f4 pcausal");
  const auto piece = parse("bwd_data fp32 n1 c4 k4 i2 f4 pcausal history new_history");
  const auto plan_whole = wavetile_test::make_plan(device, whole), plan = wavetile_test::make_plan(device, piece);
  ASSERT_TRUE(plan_whole && plan);
  auto info = sized<wavetile_tensor_info>();
  ASSERT_TRUE(succeeded(wavetile_problem_tensor(piece.get(), WAVETILE_ROLE_HISTORY, &info)));
  EXPECT_EQ(info.use, WAVETILE_WRITTEN);
  ASSERT_TRUE(succeeded(wavetile_problem_tensor(piece.get(), WAVETILE_ROLE_NEW_HISTORY, &info)));
  EXPECT_EQ(info.use, WAVETILE_READ);

  alignas(64) float dy[kLength * kChannels], w[4 * 4 * kChannels], dx[kLength * kChannels], part[kPiece * kChannels];
  alignas(64) float before[kState * kChannels], after[kState * kChannels] = {}, dy_part[kPiece * kChannels];
  for (int i = 0; i < kLength * kChannels; ++i) dy[i] = static_cast<float>(i * 5 % 11) - 5;
  for (int i = 0; i < 4 * 4 * kChannels; ++i) w[i] = static_cast<float>(i % 5) - 2;
  auto tensors = sized<wavetile_tensors>();
  tensors.x = dx, tensors.w = w, tensors.y = dy;
  alignas(256) static char workspace[1 << 16];
  ASSERT_LE(std::max(wavetile_plan_workspace_bytes(plan.get()), wavetile_plan_workspace_bytes(plan_whole.get())),
            static_cast<int64_t>(sizeof workspace));
  ASSERT_TRUE(succeeded(wavetile_plan_execute(plan_whole.get(), nullptr, &tensors, workspace, sizeof workspace)));
  tensors.x = part, tensors.y = dy_part, tensors.history = before, tensors.new_history = after;
  for (int at = kLength - kPiece; at >= 0; at -= kPiece) {
    std::memcpy(dy_part, dy + at * kChannels, sizeof dy_part);
    ASSERT_TRUE(succeeded(wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace, sizeof workspace)));
    // What comes later has been added to the history's gradient, and is in the whole's own dx.
    for (int i = 0; i < kPiece * kChannels; ++i) EXPECT_EQ(part[i], dx[at * kChannels + i]) << at << " " << i;
    std::memcpy(after, before, sizeof after);
  }
  tensors.new_history = before;
  EXPECT_NE(error_of(wavetile_plan_execute(plan.get(), nullptr, &tensors, workspace, sizeof workspace))
                .find("tensor history (its gradient) overlaps new_history (its gradient)"),
            std::string::npos);
}
