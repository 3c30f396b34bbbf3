// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/plan/bias_gradient_test.cc - sums over images and pixels on a device: exact, in a fixed order, alone
// and beside a weight gradient.
#include "dispatch/plan/bias_gradient.h"

#include <gmock/gmock.h>

#include "dispatch/trial/bias_gradient.h"
#include "dispatch/trial/search.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

using ::testing::HasSubstr;

// A device's memory with a copy of `bytes`.
class Copy {
 public:
  Copy(Device& device, const Buffer& bytes) : device_(device) {
    memory_ = *device.allocate(std::max<size_t>(1, bytes.size()));
    EXPECT_TRUE(device.copy_in(memory_, bytes.data(), bytes.size()).ok());
  }
  ~Copy() { EXPECT_TRUE(device_.free(memory_).ok()); }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  void* get() const { return memory_; }

 private:
  Device& device_;
  void* memory_ = nullptr;
};

// The sums of the problem's dy by the device, on integers or random data.
std::vector<float> sums_on(const std::shared_ptr<Device>& device, const ConvProblem& problem, Fill fill,
                           std::optional<int64_t> workspace_limit = {}) {
  HostTensors host = make_tensors(problem, fill, 3);
  const auto summer =
      make_channel_summer(device, bias_gradient_tensor(problem, problem.bias_gradient), workspace_limit);
  EXPECT_TRUE(summer.ok()) << summer.status().message();
  if (!summer.ok()) return {};
  EXPECT_LE((*summer)->workspace_bytes(), workspace_limit.value_or(INT64_MAX));
  Buffer scratch(static_cast<size_t>((*summer)->workspace_bytes()));
  poison(scratch);
  const Copy in(*device, problem.bias_gradient == BiasGradient::kOfX ? host.x : host.y),
      out(*device, host.bias_gradient), workspace(*device, scratch);
  const Status status = (*summer)->execute(in.get(), static_cast<float*>(out.get()), workspace.get(), nullptr);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(device->synchronize(nullptr).ok());
  EXPECT_TRUE(device->copy_out(host.bias_gradient.data(), out.get(), host.bias_gradient.size()).ok());
  EXPECT_EQ(bias_gradient_fault(problem, host, {.exact = fill == Fill::kExact}), "") << to_text(problem);
  const std::span<const float> got = host.bias_gradient.as<float>();
  return {got.begin(), got.end()};
}

// Channel counts that no load divides, loads that lines do not fill, tails, several blocks, few and many channels.
TEST(BiasGradient, IsExact) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {
           "bwd_weight bf16 n2 c8 k1 i13x7 bias_gradient",
           "bwd_weight bf16 n3 c8 k3 i11x9 bias_gradient",
           "bwd_weight bf16 n2 c8 k17 i5x5 bias_gradient",
           "bwd_weight bf16 n2 c8 k100 i9x9 bias_gradient",
           "bwd_weight bf16 n5 c8 k36 i7x7 bias_gradient",
           "bwd_weight bf16 n1 c8 k1160 i4x4 bias_gradient",
           "bwd_weight bf16 n1 c8 k3000 i2x3 bias_gradient",
           "bwd_weight fp16 n2 c8 k64 i40x40 bias_gradient",
           "bwd_weight fp32 n1 c8 k17 i6x6 bias_gradient",
           "bwd_weight fp32 n1 c40 k8 i17x3 bias_gradient=x",
           "bwd_weight e4m3>bf16 n1 c8 k17 i6x6 bias_gradient",
           "bwd_weight bf16 n9 c8 k3 i7x7 NCHW bias_gradient",
           "bwd_weight bf16 n2 c8 k17 i5x5 NCHW bias_gradient",
           "bwd_weight fp32 n1 c8 k2 i90x100 NCHW bias_gradient",
           "bwd_weight fp16 n2 c8 k5 i3x3x3 NCDHW bias_gradient",
           "bwd_weight bf16 n0 c8 k5 i3 bias_gradient",
       }) {
    sums_on(*device, problem_of(text), Fill::kExact);
  }
}

// Down to no workspace at all.
TEST(BiasGradient, KeepsToTheWorkspaceLimit) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text :
       {"bwd_weight bf16 n2 c8 k36 i40x40 bias_gradient", "bwd_weight bf16 n9 c8 k3 i7x7 NCHW bias_gradient"}) {
    for (const int64_t limit : {0, 700}) sums_on(*device, problem_of(text), Fill::kExact, limit);
  }
  const TrialResult result =
      run_trial(*device, problem_of("bwd_weight bf16 n1 c8 k36 i9x9 f3x3 bias_gradient"),
                {.plan = {.workspace_limit = 0, .tuning = Tuning::kOff}, .exact = true, .time = false});
  EXPECT_TRUE(result.verified) << result.status.message();
  EXPECT_EQ(result.workspace_bytes, 0);
}

TEST(BiasGradient, RepeatsBitForBitAndWithinTheBound) {
  for (const char* text :
       {"bwd_weight bf16 n2 c8 k36 i29x31 bias_gradient", "bwd_weight fp32 n3 c8 k3 i33x29 NCHW bias_gradient"}) {
    std::vector<std::vector<float>> results;
    for (const char* seed : {"1", "2"}) {
      ::setenv("WAVETILE_SIM_SEED", seed, 1);
      const auto device = open_device("sim:sm_90a");
      ::unsetenv("WAVETILE_SIM_SEED");
      ASSERT_TRUE(device.ok()) << device.status().message();
      results.push_back(sums_on(*device, problem_of(text), Fill::kRandom));
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

TEST(BiasGradient, ComesWithTheWeightGradient) {
  for (const char* where : {"sim:sm_90a", "cpu"}) {
    const auto device = open_device(where);
    ASSERT_TRUE(device.ok()) << device.status().message();
    for (const char* text : {"bwd_weight bf16 n2 c16 k36 i9x9 f3x3 p1 bias_gradient",
                             "transposed_bwd_weight fp16 n1 c8 k17 i5x4 f3x3 s2 p1 o1 bias_gradient"}) {
      const TrialResult result =
          run_trial(*device, problem_of(text), {.exact = true, .seed = 7, .same = 2, .time = false});
      EXPECT_TRUE(result.verified) << where << " " << text << ": " << result.status.message();
      EXPECT_EQ(result.same, 1);
      EXPECT_THAT(result.plan.reason, HasSubstr("for the bias gradient"));
    }
  }
}

TEST(BiasGradient, IsTriedAlone) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const TrialOptions options{.exact = true, .same = 3, .time = false};
  const TrialResult result =
      run_bias_gradient_trial(*device, problem_of("bwd_weight bf16 n2 c8 k36 i9x9 f3x3"), options);
  EXPECT_TRUE(result.verified) << result.status.message();
  EXPECT_EQ(result.same, 2);
  EXPECT_EQ(result.verification.compared, 36);
  EXPECT_EQ(result.bytes, 2 * 7 * 7 * 36 * 2);
  EXPECT_THAT(result.replay, HasSubstr("--bias-gradient"));
  EXPECT_THAT(run_bias_gradient_trial(*device, problem_of("fwd bf16 c8 k8 i8"), options).status.message(),
              HasSubstr("sums the dy of bwd_weight"));
}

// A search tries kernels, which compute the weight gradient alone.
TEST(BiasGradient, IsNotPartOfASearch) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  SearchOptions options;
  options.best = 1;
  options.trial.exact = true;
  const auto report = search(*device, problem_of("bwd_weight bf16 n2 c16 k16 i8x8 f3x3 p1 bias_gradient"), options, {});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->wrong + report->failed, 0);
}

TEST(BiasGradient, NeedsItsPointers) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const auto summer = make_channel_summer(*device, {DataType::kBf16, Layout::kChannelsLast, 1, 8, 4});
  ASSERT_TRUE(summer.ok()) << summer.status().message();
  EXPECT_THAT((*summer)->execute(nullptr, nullptr, nullptr, nullptr).message(), HasSubstr("a pointer is null"));
  EXPECT_THAT(make_channel_summer(*device, {DataType::kBf16, Layout::kChannelsLast, 1, 1 << 25, 4}).status().message(),
              HasSubstr("33554432 channels"));
}

}  // namespace
}  // namespace wt
