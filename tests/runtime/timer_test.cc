// SPDX-License-Identifier: Apache-2.0
// tests/runtime/timer_test.cc - the timer against a device whose time is known.
#include "runtime/timer.h"

#include <gmock/gmock.h>

#include "tests/fake_driver/fake_gpu.h"

namespace wt {
namespace {

using ::testing::HasSubstr;

TEST(Summary, QuartilesAndMedian) {
  std::vector<double> samples;
  for (int i = 0; i < 100; ++i) samples.push_back((i * 37) % 100 + 1);  // 1 to 100, stirred
  const Timing timing = summarize(samples, 0);
  EXPECT_DOUBLE_EQ(timing.median_us, 50.5);
  EXPECT_DOUBLE_EQ(timing.low_us, 26);
  EXPECT_DOUBLE_EQ(timing.high_us, 75);
  EXPECT_DOUBLE_EQ(timing.minimum_us, 1);
  EXPECT_EQ(timing.runs, 100);
}

TEST(Summary, DriftWidensTheSpread) {
  std::vector<double> samples(64, 10.0);
  for (size_t i = 48; i < 64; ++i) samples[i] = 12;  // the last quarter ran slower
  const Timing timing = summarize(samples, 0);
  EXPECT_DOUBLE_EQ(timing.median_us, 10);
  EXPECT_DOUBLE_EQ(timing.high_us, 12);
}

TEST(Summary, OneSampleAndResolution) {
  const Timing timing = summarize({5}, 0.5);
  EXPECT_DOUBLE_EQ(timing.median_us, 5);
  EXPECT_DOUBLE_EQ(timing.low_us, 4.75);
  EXPECT_DOUBLE_EQ(timing.high_us, 5.25);
}

TEST(Summary, AgreementIsOverlap) {
  const Timing a{.median_us = 10, .low_us = 9, .high_us = 11}, b{.median_us = 11.5, .low_us = 10.8, .high_us = 12};
  const Timing c{.median_us = 13, .low_us = 12.5, .high_us = 14};
  EXPECT_TRUE(agree(a, b));
  EXPECT_TRUE(agree(b, a));
  EXPECT_FALSE(agree(a, c));
  EXPECT_FALSE(agree(c, a));
}

class TimerOnGpu : public FakeGpu {
 protected:
  void SetUp() override {
    FakeGpu::SetUp();
    device_ = open();
    module_ = *device_->load(module_with("kernel_a"));
    function_ = *module_->find("kernel_a");
    timer_ = *Timer::make(device_);
    quick_.warmup_seconds = 0;
    quick_.budget_seconds = 1e9;  // the host's clock decides nothing here
  }
  void TearDown() override {
    timer_.reset();
    module_.reset();
    device_.reset();
    EXPECT_EQ(fake_context_references(), 0);
    FakeGpu::TearDown();
  }
  Status launch(int run, Stream stream) {
    runs_.push_back(run);
    return device_->launch(*function_, {}, {}, stream);
  }
  Result<Timing> time() {
    return timer_->time([this](int run, Stream stream) { return launch(run, stream); }, quick_);
  }

  std::shared_ptr<Device> device_;
  std::shared_ptr<LoadedModule> module_;
  const Function* function_ = nullptr;
  std::unique_ptr<Timer> timer_;
  TimerOptions quick_;
  std::vector<int> runs_;
};

TEST_F(TimerOnGpu, ColdRunsHideTheLaunchBehindTheFlush) {
  fake_set_kernel_time(5, 0);
  auto timing = time();
  ASSERT_TRUE(timing.ok()) << timing.status().message();
  EXPECT_NEAR(timing->median_us, 5, 0.01) << "without the 2 us that the host needs for a launch";
  EXPECT_TRUE(timing->cold_l2);
  EXPECT_FALSE(timing->graph);
  EXPECT_EQ(fake_calls("cuMemsetD8Async"), timing->runs) << "one flush a run, none in warm-up";
  EXPECT_GE(timing->runs, quick_.min_runs);
  EXPECT_GE(timing->host_us, 0);
}

TEST_F(TimerOnGpu, TheFlushIsLargerThanTheCacheAndMadeOnce) {
  ASSERT_TRUE(time().ok());
  const size_t bytes = fake_live_bytes();
  EXPECT_GE(bytes, 2u * (60u << 20));
  ASSERT_TRUE(time().ok());
  EXPECT_EQ(fake_live_bytes(), bytes);
}

TEST_F(TimerOnGpu, WarmRunsAreReplayedAsAGraph) {
  fake_set_kernel_time(5, 0);
  quick_.cold_l2 = false;
  auto timing = time();
  ASSERT_TRUE(timing.ok()) << timing.status().message();
  EXPECT_TRUE(timing->graph);
  EXPECT_FALSE(timing->cold_l2);
  EXPECT_NEAR(timing->median_us, 5, 0.1) << "one launch of the host for many kernels";
  EXPECT_EQ(fake_calls("cuMemsetD8Async"), 0);
  EXPECT_GT(fake_calls("cuGraphLaunch"), 4);
  EXPECT_EQ(fake_live_graphs(), 0);
}

TEST_F(TimerOnGpu, RunsAreCountedForRotatingBuffers) {
  ASSERT_TRUE(time().ok());
  for (size_t i = 0; i < runs_.size(); ++i) ASSERT_EQ(runs_[i], static_cast<int>(i));
}

TEST_F(TimerOnGpu, TwoTimingsOfOneKernelAgree) {
  for (const double jitter : {0.0, 0.02, 0.1, 0.3}) {
    fake_set_kernel_time(20, jitter);
    auto first = time(), second = time();
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_TRUE(agree(*first, *second)) << jitter << ": " << first->low_us << " to " << first->high_us << " and "
                                        << second->low_us << " to " << second->high_us;
    EXPECT_NEAR(first->median_us, 20, 20 * jitter + 0.01);
  }
}

TEST_F(TimerOnGpu, DifferentKernelsDoNotAgree) {
  fake_set_kernel_time(20, 0.02);
  auto first = time();
  fake_set_kernel_time(22, 0.02);
  auto second = time();
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_FALSE(agree(*first, *second));
}

TEST_F(TimerOnGpu, NoisyKernelsGetMoreRuns) {
  fake_set_kernel_time(20, 0);
  auto still = time();
  fake_set_kernel_time(20, 0.3);
  auto noisy = time();
  ASSERT_TRUE(still.ok() && noisy.ok());
  EXPECT_LT(still->runs, 40);
  EXPECT_GT(noisy->runs, 2 * still->runs);
  EXPECT_LE(noisy->runs, quick_.max_runs);
}

TEST_F(TimerOnGpu, TheRunsOfABatchAreNotWaitedForOneByOne) {
  ASSERT_TRUE(time().ok());
  fake_clear_calls();
  auto timing = time();
  ASSERT_TRUE(timing.ok());
  EXPECT_LE(fake_calls("cuStreamSynchronize"), 2 + timing->runs / 4);
}

TEST_F(TimerOnGpu, FailuresOfTheWorkComeThrough) {
  auto failing =
      timer_->time([](int run, Stream) { return run < 5 ? Status{} : bad_input("run {} failed", run); }, quick_);
  ASSERT_FALSE(failing.ok());
  EXPECT_EQ(failing.status().message(), "run 5 failed");
  EXPECT_TRUE(time().ok()) << "the timer can be used again";

  quick_.min_runs = 10, quick_.max_runs = 5;
  auto nonsense = time();
  ASSERT_FALSE(nonsense.ok());
  EXPECT_THAT(nonsense.status().message(), HasSubstr("1 <= min_runs <= max_runs, not 10 and 5"));
}

TEST_F(TimerOnGpu, AFlushWithoutMemoryIsAnError) {
  fake_set_memory(1 << 20);
  auto timing = time();
  ASSERT_FALSE(timing.ok());
  EXPECT_THAT(timing.status().message(), HasSubstr("CUDA_ERROR_OUT_OF_MEMORY"));
}

}  // namespace
}  // namespace wt
