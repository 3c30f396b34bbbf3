// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/plan/images_test.cc - tensors of 2^31 elements and more, in ranges of images.
#include <gmock/gmock.h>

#include "dispatch/plan/images.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

TEST(ImagesPlan, RangesStayBelowTheLimitAndAreAboutEqual) {
  const auto images = [](const char* text) { return images_a_range(problem_of(text)); };
  EXPECT_EQ(images("fwd bf16 n9 c1024 k16 i512x512 f1x1"), 5);  // 2^28 elements per image
  EXPECT_EQ(images("bwd_data bf16 n20 c16 k1024 i512x512 f1x1"), 7);
  EXPECT_EQ(images("fwd bf16 n7 c1024 k16 i512x512 f1x1"), 7);              // fits
  EXPECT_EQ(images("fwd bf16 n2 c1024 k16 i2048x2048 f1x1"), 2);            // one image is too large
  EXPECT_EQ(images("bwd_weight bf16 n9 c1024 k16 i512x512 f1x1"), 9);       // images meet in the sum
  EXPECT_EQ(images("fwd bf16 n9 c1024 k16 i512x512 f1x1 +amax"), 9);        // one number of all
  EXPECT_EQ(images("fwd bf16 n9 c1024 k16 i512x512 f1x1 +f=\"at.n\""), 9);  // counts images
}

// Every tensor that has images moves on with them, the others stay.
TEST(ImagesPlan, IsExact) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const auto& [text, images] :
       {std::pair{"fwd bf16 n5 c8 k16 i5x4 f3x3 p1 +scale+bias+residual=2+add=0.5+relu", 2},
        std::pair{"bwd_data bf16>fp32 n4 c8 k16 i5x4 f3x3 s2 p1 +residual+grad_relu", 2},
        std::pair{"fwd fp16 n3 c5 k6 i5x4 f3x3 p1 NCHW +residual", 2}}) {
    const ConvProblem problem = problem_of(text);
    const auto whole = make_plan(*device, of_images(problem, images), {});
    ASSERT_TRUE(whole.ok()) << whole.status().message();
    std::shared_ptr<const Plan> rest;
    if (const int64_t left = problem.n % images; left > 0) {
      const auto made = make_plan(*device, of_images(problem, left), {});
      ASSERT_TRUE(made.ok()) << made.status().message();
      rest = *made;
    }
    const auto plan = make_images_plan(problem, *whole, rest, "tested");
    const auto tensors = TrialTensors::make(*device, problem, true, 7);
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    TrialOptions options;
    options.exact = true;
    options.seed = 7;
    options.time = false;
    const TrialResult result = run_trial(**tensors, *plan, options);
    EXPECT_TRUE(result.verified) << text << ": " << result.status.message();
    EXPECT_EQ(plan->description().launches,
              (problem.n / images) * (*whole)->description().launches + (rest ? rest->description().launches : 0));
  }
}

// Hopper's kernels take large tensors that way, and say so; a kernel that reaches all of them can still be asked for.
TEST(ImagesPlan, ServesLargeTensors) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of("fwd bf16 n9 c1024 k64 i512x512 f3x3 p1 +bias");
  const auto plan = make_plan(*device, problem, {});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_THAT((*plan)->description().kernel, ::testing::HasSubstr("_tma"));
  EXPECT_THAT((*plan)->description().reason, ::testing::HasSubstr("2 ranges of up to 5 images"));
  EXPECT_EQ((*plan)->problem(), problem);
  PlanOptions named;
  named.kernel = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll).front().name;
  const auto own = make_plan(*device, problem, named);
  ASSERT_TRUE(own.ok()) << own.status().message();
  EXPECT_EQ((*own)->description().reason, "asked for by name");
}

}  // namespace
}  // namespace wt
