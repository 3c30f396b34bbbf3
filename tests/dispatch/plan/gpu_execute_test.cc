// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/plan/gpu_execute_test.cc - what a plan's execute asks of the CUDA driver, from problem to launch.
#include <gmock/gmock.h>

#include <set>

#include "dispatch/plan/filled_params.h"
#include "dispatch/plan/plan.h"
#include "launch/binding.h"
#include "problem/tensor_data.h"
#include "runtime/timer.h"
#include "tests/fake_driver/fake_gpu.h"

#if WT_HAVE_NVRTC

namespace wt {
namespace {

using ::testing::HasSubstr;

class GpuExecute : public FakeGpu, public ::testing::WithParamInterface<const char*> {
 protected:
  void plan(const std::string& text) {
    problem_ = *parse_problem(text);
    device_ = open();
    auto plan = make_plan(device_, problem_, {.tuning = Tuning::kOff});
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    plan_ = *plan;
    const std::pair<Tensor, size_t> sizes[] = {{Tensor::kX, static_cast<size_t>(x_bytes(problem_))},
                                               {Tensor::kW, static_cast<size_t>(w_bytes(problem_))},
                                               {Tensor::kY, static_cast<size_t>(y_bytes(problem_))},
                                               {Tensor::kBias, size_t{4096}},
                                               {Tensor::kAmax, sizeof(float)},
                                               {Tensor::kWorkspace, static_cast<size_t>(plan_->workspace_bytes())}};
    for (auto [tensor, bytes] : sizes) tensors_[tensor] = *device_->allocate(bytes);
    stream_ = *device_->make_stream();
  }
  void TearDown() override {
    plan_.reset();
    device_.reset();
    FakeGpu::TearDown();
  }

  ConvProblem problem_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<const Plan> plan_;
  TensorPointers tensors_;
  Stream stream_ = nullptr;
};

TEST_P(GpuExecute, OnlyEnqueues) {
  plan(GetParam());
  ASSERT_TRUE(plan_->execute(tensors_, stream_).ok());
  fake_clear_calls();
  const int live = fake_live_allocations();
  for (int i = 0; i < 5; ++i) {
    const Status status = plan_->execute(tensors_, stream_);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_EQ(fake_calls("cuLaunchKernelEx"), 5 * plan_->description().launches);
  EXPECT_EQ(fake_live_allocations(), live);
  // Nothing that allocates, waits, loads or looks up: everything else would be another name.
  const std::set<std::string> allowed = {"cuLaunchKernelEx",  "cuTensorMapEncodeTiled", "cuTensorMapEncodeIm2col",
                                         "cuMemsetD8Async",   "cuCtxGetCurrent",        "cuCtxPushCurrent_v2",
                                         "cuCtxPopCurrent_v2"};
  std::string log = fake_call_log();
  for (size_t begin = 0, end; (end = log.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_TRUE(allowed.count(log.substr(begin, end - begin))) << log.substr(begin, end - begin);
}

TEST_P(GpuExecute, EncodesMapsAgainOnlyForOtherTensors) {
  plan(GetParam());
  const auto encoded = [&] {
    fake_clear_calls();
    EXPECT_TRUE(plan_->execute(tensors_, stream_).ok());
    return fake_calls("cuTensorMapEncodeTiled") + fake_calls("cuTensorMapEncodeIm2col");
  };
  const int maps = encoded();
  EXPECT_EQ(encoded(), 0);
  tensors_[Tensor::kX] = *device_->allocate(static_cast<size_t>(x_bytes(problem_)));
  EXPECT_EQ(encoded(), maps);
  EXPECT_EQ(encoded(), 0);
}

TEST(FilledParams, AreThoseOfTheTensorsTheyWereFilledFor) {
  FilledParams filled(4);
  TensorPointers first, second;
  second[Tensor::kX] = &second;
  const std::array<std::byte, 4> one{std::byte{1}}, two{std::byte{2}};
  std::array<std::byte, 4> found{};
  EXPECT_FALSE(filled.recall(first, found.data())) << "nothing was filled yet";
  filled.remember(first, one.data());
  EXPECT_FALSE(filled.recall(second, found.data()));
  ASSERT_TRUE(filled.recall(first, found.data()));
  EXPECT_EQ(found, one);
  filled.remember(second, two.data());
  EXPECT_FALSE(filled.recall(first, found.data()));
  ASSERT_TRUE(filled.recall(second, found.data()));
  EXPECT_EQ(found, two);
}

TEST_P(GpuExecute, IsSafeUnderCapture) {
  plan(GetParam());
  auto graph = device_->capture(stream_, [&] { return plan_->execute(tensors_, stream_); });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(fake_launch_count(), plan_->description().launches);
  for (int i = 0; i < fake_launch_count(); ++i) EXPECT_TRUE(fake_launch(i)->captured);
  EXPECT_TRUE((*graph)->replay(stream_).ok());
}

INSTANTIATE_TEST_SUITE_P(Problems, GpuExecute,
                         ::testing::Values("fwd bf16 n2 c64 k64 i14x14 f3x3 p1 +bias+relu",
                                           "bwd_data bf16 n2 c64 k64 i15x15 f3x3 s2 p1",
                                           "bwd_weight fp16 n2 c32 k32 i14x14 f3x3 p1",
                                           "fwd bf16 n2 c5 k7 i9x9 f3x3 p1 +amax"));

class GpuExecuteFault : public GpuExecute {};

TEST_F(GpuExecuteFault, ATrapNamesTheKernelAndTheCommandThatRepeatsIt) {
  plan("fwd bf16 n2 c64 k64 i14x14 f3x3 p1");
  fake_fault_kernel(700, 1);
  ASSERT_TRUE(plan_->execute(tensors_, stream_).ok());
  const Status fault = device_->synchronize(stream_);
  ASSERT_FALSE(fault.ok());
  EXPECT_THAT(fault.message(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS (700)"));
  EXPECT_THAT(fault.message(), HasSubstr(plan_->description().kernel));
  EXPECT_THAT(fault.message(), HasSubstr("replay with: wavetile run"));
  EXPECT_THAT(fault.message(), HasSubstr(to_text(problem_)));
}

TEST_F(GpuExecuteFault, TimedPlansReuseTheirBuffers) {
  plan("fwd bf16 n2 c64 k64 i14x14 f3x3 p1");
  auto timer = *Timer::make(device_);
  fake_set_kernel_time(8, 0);
  TimerOptions options;
  options.warmup_seconds = 0;
  auto timing = timer->time([&](int, Stream stream) { return plan_->execute(tensors_, stream); }, options);
  ASSERT_TRUE(timing.ok()) << timing.status().message();
  EXPECT_NEAR(timing->median_us, 8.0 * plan_->description().launches, 0.5 + 4 * (plan_->description().launches - 1));
}

}  // namespace
}  // namespace wt

#endif  // WT_HAVE_NVRTC
