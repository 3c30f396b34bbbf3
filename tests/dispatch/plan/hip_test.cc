// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/plan/hip_test.cc - plans on an AMD GPU of the fake HIP: what they ask of it, how they are tuned,
// packed and verified.
#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "compile/pack.h"
#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/plan/plan.h"
#include "dispatch/trial/gpu_verify.h"
#include "dispatch/tuning/key.h"
#include "dispatch/tuning/lookup.h"
#include "problem/tensor_data.h"
#include "runtime/timer.h"
#include "tests/dispatch/tuning_scratch.h"
#include "tests/fake_driver/fake_gpu.h"

namespace wt {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kProblem = "fwd bf16 n2 c64 k64 i14x14 f3x3 p1 +bias+relu";

class HipPlan : public FakeAmdGpu {
 protected:
  void TearDown() override {
    plan_.reset();
    device_.reset();
    ::unsetenv("WAVETILE_PACK");
    ::unsetenv("WAVETILE_CLANG");
    FakeAmdGpu::TearDown();
  }

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
                                               {Tensor::kWorkspace, static_cast<size_t>(plan_->workspace_bytes())}};
    for (auto [tensor, bytes] : sizes) tensors_[tensor] = *device_->allocate(bytes);
    stream_ = *device_->make_stream();
  }

  tuning::ScratchFolder folder_;
  ConvProblem problem_;
  std::shared_ptr<Device> device_;
  std::shared_ptr<const Plan> plan_;
  TensorPointers tensors_;
  Stream stream_ = nullptr;
};

// By architecture and compute units, since one chip has several names and several chips share one.
TEST_F(HipPlan, TuningKeysNameTheArchitecture) {
  fake_set_hip_device(1, "AMD Radeon Graphics", "gfx1101");
  const tuning::Key key = tuning::key_of(open()->info(), *parse_problem(kProblem), {});
  EXPECT_EQ(key.gpu, "gfx1101");
  EXPECT_EQ(key.multiprocessors, 304);
  EXPECT_EQ(key.target, "gfx11-generic");
}

TEST_F(HipPlan, RunsFromAPackWithoutACompiler) {
  problem_ = *parse_problem(kProblem);
  std::vector<compile::PackInput> inputs;
  for (const RankedCandidate& candidate : rank_candidates(problem_, Target::kGfx942, {}, Breadth::kFew)) {
    if (!candidate.accepts()) continue;
    compile::Module module = module_with(name_of(candidate.config));
    module.name = name_of(candidate.config);
    inputs.push_back({candidate.config, module});
    break;
  }
  ASSERT_EQ(inputs.size(), 1u);
  const std::filesystem::path file = folder_.path() / "a.wtpack";
  const auto written = compile::write_pack(file, compile::Backend::kClang, Target::kGfx942, "default", inputs);
  ASSERT_TRUE(written.ok()) << written.status().message();
  ::setenv("WAVETILE_PACK", file.c_str(), 1);
  ::setenv("WAVETILE_CLANG", "no-such-clang", 1);
  plan(kProblem);
  EXPECT_EQ(plan_->description().pack, file.string());
  ASSERT_TRUE(plan_->execute(tensors_, stream_).ok());
  ASSERT_EQ(fake_launch_count(), plan_->description().launches);
  EXPECT_EQ(fake_launch(0)->kernel, inputs[0].module.name);
  EXPECT_EQ(fake_launch(0)->stream, stream_);
}

#if WT_HAVE_CLANG

class HipExecute : public HipPlan, public ::testing::WithParamInterface<const char*> {};

// Code objects are clang's, so the size of each parameter block is checked against the kernel's argument, too.
TEST_P(HipExecute, OnlyEnqueues) {
  plan(GetParam());
  const Status first = plan_->execute(tensors_, stream_);
  ASSERT_TRUE(first.ok()) << first.message();
  fake_clear_calls();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(plan_->execute(tensors_, stream_).ok());
  EXPECT_EQ(fake_calls("hipModuleLaunchKernel"), 3 * plan_->description().launches);
  for (int i = 0; i < fake_launch_count(); ++i) EXPECT_GT(fake_launch(i)->param_bytes, 100u);
  // Nothing that allocates, waits, loads or looks up: everything else would be another name.
  const std::set<std::string> allowed = {"hipModuleLaunchKernel", "hipMemsetD8Async", "hipGetDevice", "hipSetDevice"};
  const std::string log = fake_call_log();
  for (size_t begin = 0, end; (end = log.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_TRUE(allowed.count(log.substr(begin, end - begin))) << log.substr(begin, end - begin);
}

TEST_P(HipExecute, IsSafeUnderCapture) {
  plan(GetParam());
  auto graph = device_->capture(stream_, [&] { return plan_->execute(tensors_, stream_); });
  ASSERT_TRUE(graph.ok()) << graph.status().message();
  ASSERT_EQ(fake_launch_count(), plan_->description().launches);
  for (int i = 0; i < fake_launch_count(); ++i) EXPECT_TRUE(fake_launch(i)->captured);
  EXPECT_TRUE((*graph)->replay(stream_).ok());
}

INSTANTIATE_TEST_SUITE_P(Problems, HipExecute,
                         ::testing::Values(kProblem, "bwd_data fp16 n2 c64 k64 i15x15 f3x3 s2 p1",
                                           "bwd_weight bf16 n2 c32 k32 i14x14 f3x3 p1"));

TEST_F(HipPlan, AParameterBlockOfTheWrongSizeNeverReachesHip) {
  plan(kProblem);
  const compile::Source source{
      "wrong_size", "struct P { int at[25]; };\nextern \"C\" __attribute__((global)) void wrong_size(const P p) {}\n",
      Target::kGfx942};
  const auto module = compile::compile(compile::Backend::kClang, source);
  ASSERT_TRUE(module.ok()) << module.status().message();
  const auto loaded = device_->load(*module);
  ASSERT_TRUE(loaded.ok()) << loaded.status().message();
  const auto function = (*loaded)->find("wrong_size");
  ASSERT_TRUE(function.ok()) << function.status().message();
  std::vector<std::byte> params(96);
  EXPECT_EQ(device_->launch(**function, {}, params, stream_).message(),
            "kernel wrong_size takes 100 bytes of parameters and was given 96");
  EXPECT_EQ(fake_launch_count(), 0);
  params.resize(100);
  EXPECT_TRUE(device_->launch(**function, {}, params, stream_).ok());
}

TEST_F(HipPlan, AFaultNamesTheKernelAndTheCommandThatRepeatsIt) {
  plan(kProblem);
  fake_fault_kernel(700, 1);
  ASSERT_TRUE(plan_->execute(tensors_, stream_).ok());
  const Status fault = device_->synchronize(stream_);
  ASSERT_FALSE(fault.ok());
  EXPECT_THAT(fault.message(),
              AllOf(HasSubstr("hipErrorIllegalAddress (700)"), HasSubstr(plan_->description().kernel),
                    HasSubstr("replay with: wavetile run"), HasSubstr("--device hip:0"), HasSubstr(to_text(problem_))));
}

TEST_F(HipPlan, TimesWithTheLastLevelCacheFlushed) {
  plan(kProblem);
  fake_set_memory(size_t{4} << 30);
  auto timer = *Timer::make(device_);
  fake_set_kernel_time(8, 0);
  TimerOptions options;
  options.warmup_seconds = 0;
  auto timing = timer->time([&](int, Stream stream) { return plan_->execute(tensors_, stream); }, options);
  ASSERT_TRUE(timing.ok()) << timing.status().message();
  EXPECT_NEAR(timing->median_us, 8.0 * plan_->description().launches, 1 + 4 * (plan_->description().launches - 1));
  size_t flushed = 0;
  for (int i = 0; i < fake_fill_count(); ++i) flushed = std::max(flushed, fake_fill(i)->bytes);
  EXPECT_EQ(flushed, size_t{512} << 20) << "twice the largest Infinity Cache, of which HIP says nothing";
}

// The naive reference is compiled for the GPU's own target and runs there.
TEST_F(HipPlan, VerifiesOnTheGpu) {
  fake_set_hip_device(1, "GPU", "gfx1102");
  plan(kProblem);
  fake_clear_calls();
  const auto reference = DeviceReference::make(device_, problem_, tensors_);
  ASSERT_TRUE(reference.ok()) << reference.status().message();
  const auto report = (*reference)->compare(tensors_, {});
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->compared, problem_.output_elements());
  std::set<std::string> kernels;
  for (int i = 0; i < fake_launch_count(); ++i) kernels.insert(fake_launch(i)->kernel);
  EXPECT_EQ(kernels, (std::set<std::string>{"naive_fwd_bf16_bf16", "naive_scan_bf16", "naive_gather_bf16"}));
}

#endif  // WT_HAVE_CLANG

}  // namespace
}  // namespace wt
