// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/trial/cudnn_test.cc - the comparison with cuDNN, against a fake one that computes from its
// descriptors.
#include "dispatch/trial/cudnn.h"

#include <gmock/gmock.h>

#include "runtime/cudnn/convolution.h"
#include "tests/dispatch/tuning_scratch.h"
#include "tests/fake_cudnn/fake_cudnn.h"
#include "tests/fake_driver/fake_gpu.h"
#include "tests/places.h"

namespace wt {
namespace {

using ::testing::HasSubstr;

class CudnnTrial : public FakeGpu, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override {
    FakeGpu::SetUp();
    ::setenv("WAVETILE_CUDNN", places::kFakeCudnn, 1);
    fake_cudnn_reset();
    device_ = open();
  }
  void TearDown() override {
    device_.reset();
    ::unsetenv("WAVETILE_CUDNN");
    FakeGpu::TearDown();
  }
  CudnnResult compare(const std::string& text) {
    const auto problem = parse_problem(text);
    EXPECT_TRUE(problem.ok()) << problem.status().message();
    const auto tensors = TrialTensors::make(device_, *problem, options_.exact, 1);
    EXPECT_TRUE(tensors.ok()) << tensors.status().message();
    return time_cudnn(**tensors, options_);
  }
  TrialOptions options_;
  std::shared_ptr<Device> device_;
};

TEST_P(CudnnTrial, TheGraphSaysWhatTheProblemIs) {
  options_.exact = true;
  const CudnnResult result = compare(GetParam());
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_EQ(result.wrong, 0u);
  EXPECT_EQ(result.plans, 4u);
  EXPECT_EQ(result.library_version, 91900u);
  EXPECT_EQ(fake_cudnn_live_descriptors(), 0);
}

INSTANTIATE_TEST_SUITE_P(Problems, CudnnTrial,
                         ::testing::Values("fwd fp32 n2 c3 k5 i6x7 f3x2 s2x1 p1x0",         //
                                           "bwd_data fp32 n2 c3 k5 i6x7 f3x2 s2x1 p1x0",    //
                                           "bwd_weight fp32 n2 c3 k5 i6x7 f3x2 s2x1 p1x0",  //
                                           "fwd fp32 n2 c4 k6 g2 i6x7 f3x3 p1 d2 NCHW",     //
                                           "fwd fp32 n1 c2 k3 i9 f3 p2:0",                  //
                                           "bwd_data fp32 n1 c2 k3 i4x5x6 f2x3x2 p1",       //
                                           "bwd_weight fp32 n2 c4 k4 g4 i5x5 f3x3 p1"));

TEST_F(CudnnTrial, TakesItsFastestAndItsFirst) {
  const CudnnResult result = compare("fwd fp32 n1 c4 k4 i5x5 f3x3 p1");
  ASSERT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_EQ(result.engine, "engine 1");
  EXPECT_NEAR(result.tuned->median_us, 12, 0.6);
  EXPECT_EQ(result.heuristic_engine, "engine 0");
  EXPECT_NEAR(result.heuristic->median_us, 30, 0.6);
  EXPECT_EQ(result.workspace_bytes, 8192);
  EXPECT_TRUE(result.tuned->cold_l2);
  EXPECT_LT(fake_cudnn_executions(3), 8) << "what is far slower is not timed in full";
}

TEST_F(CudnnTrial, AWrongPlanDoesNotCount) {
  fake_cudnn_set_wrong(1, 1);
  const CudnnResult result = compare("fwd fp32 n1 c4 k4 i5x5 f3x3 p1");
  EXPECT_EQ(result.wrong, 1u);
  EXPECT_EQ(result.engine, "engine 2");
  for (int engine = 0; engine < 4; ++engine) fake_cudnn_set_wrong(engine, 1);
  const CudnnResult none = compare("fwd fp32 n1 c4 k4 i5x5 f3x3 p1");
  EXPECT_FALSE(none.tuned);
  EXPECT_THAT(none.status.message(), HasSubstr("all 4 plans of cuDNN"));
}

TEST_F(CudnnTrial, PlansThatCudnnDeclinesArePassedOver) {
  fake_cudnn_set_declined(0, 1);
  const CudnnResult result = compare("fwd fp32 n1 c4 k4 i5x5 f3x3 p1");
  EXPECT_EQ(result.plans, 3u);
  EXPECT_EQ(result.heuristic_engine, "engine 1");
}

TEST_F(CudnnTrial, Fp32IsNotComparedWithTf32) {
  fake_cudnn_set_note(1, cudnn::kTensorCore);
  EXPECT_EQ(compare("fwd fp32 n1 c4 k4 i5x5 f3x3 p1").engine, "engine 2");
  EXPECT_EQ(compare("fwd tf32 n1 c4 k4 i5x5 f3x3 p1").engine, "engine 1");
}

TEST_F(CudnnTrial, TheFolderOfTheLibraryIsEnough) {
  const tuning::ScratchFolder folder;
  std::filesystem::create_symlink(places::kFakeCudnn, folder.path() / "libcudnn.so.9");
  ::setenv("WAVETILE_CUDNN", folder.path().c_str(), 1);
  const CudnnResult result = compare("fwd fp32 n1 c4 k4 i5x5 f3x3 p1");
  EXPECT_TRUE(result.status.ok()) << result.status.message();
  EXPECT_EQ(result.plans, 4u);
}

TEST_F(CudnnTrial, SaysWhatIsNotCompared) {
  EXPECT_THAT(compare("fwd fp32 n1 c4 k4 i5x5 f3x3 p1 +relu").status.message(), HasSubstr("has an epilogue"));
  EXPECT_THAT(compare("fwd e4m3>bf16 n1 c4 k4 i5x5 f3x3 p1").status.message(), HasSubstr("e4m3 is not compared"));
  ::setenv("WAVETILE_CUDNN", "/nonexistent/libcudnn.so.9", 1);
  const CudnnResult absent = compare("fwd fp32 n1 c4 k4 i5x5 f3x3 p1");
  EXPECT_EQ(absent.status.code(), Code::kUnsupported);
  EXPECT_THAT(absent.status.message(), HasSubstr("set WAVETILE_CUDNN"));
}

}  // namespace
}  // namespace wt
