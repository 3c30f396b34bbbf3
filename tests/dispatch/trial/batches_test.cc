// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/trial/batches_test.cc - the bytes of an image, in batches of several sizes and at several places.
#include "dispatch/trial/batches.h"

#include <gmock/gmock.h>

#include "kernels/kind.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

using testing::HasSubstr;

TrialOptions invariant() {
  TrialOptions options;
  options.plan.batch_invariant = true;
  options.seed = 3;
  return options;
}

void expect_same_bits(const char* device_id, const char* text, const TrialOptions& options = invariant()) {
  const auto device = open_device(device_id);
  ASSERT_TRUE(device.ok()) << device.status().message();
  const Result<BatchProof> proof = prove_batches(*device, problem_of(text), options, {1, 2, 3, 16});
  ASSERT_TRUE(proof.ok()) << text << " on " << device_id << ": " << proof.status().message();
  // Twice 22 images, of which 16 are seen for the first time.
  EXPECT_EQ(proof->images, 2 * (1 + 2 + 3 + 16) - 16);
}

// Patches of pixels of several images in a tile, divided sums, an epilogue, and a residual of each image.
TEST(Batches, HaveTheSameBitsOnAmpere) {
  expect_same_bits("sim:sm_80", "fwd bf16>fp32 n1 c40 k24 i5x5 f3x3 p1 +bias+residual+silu");
  expect_same_bits("sim:sm_80", "bwd_data fp16 n1 c16 k24 i6x5 f3x3 s2 p1");
}
TEST(Batches, HaveTheSameBitsOnHopper) {
  expect_same_bits("sim:sm_90a", "fwd bf16>fp32 n1 c512 k24 i3x3 f3x3 p1 +bias+residual+silu");
  expect_same_bits("sim:sm_90a", "bwd_data bf16 n1 c16 k128 i5x5 f3x3 p1");
  expect_same_bits("sim:sm_90a", "fwd bf16 n1 g32 c32 k32 i9x7 f3x3 p1");
}
TEST(Batches, HaveTheSameBitsOnAmd) {
  expect_same_bits("sim:gfx942", "fwd bf16>fp32 n1 c64 k32 i5x5 f3x3 p1 +bias+relu");
  expect_same_bits("sim:gfx942", "bwd_data fp16 n1 c16 k24 i5x5 f3x3 p1");
}

// By the built-in loops: oneDNN takes others for other batches.
TEST(Batches, HaveTheSameBitsOnTheCpu) {
  expect_same_bits("cpu", "fwd fp32 n1 c24 k40 i13x11 f3x3 p1 +bias+residual+gelu");
  expect_same_bits("cpu", "bwd_data bf16 n1 c24 k17 i13x11 f3x3 s2 p1");
  expect_same_bits("cpu", "fwd fp16 NCHW n1 c9 k33 i13x11 f3x3 p1 +silu");
  expect_same_bits("cpu", "fwd bf16 n1 g70 c70 k70 i13x11 f3x3 p1");
  expect_same_bits("cpu", "fwd fp32 n1 c8 k8 i24 f4 pcausal history new_history");
  expect_same_bits("cpu", "bwd_data fp32 n1 c8 k8 i24 f4 pcausal history new_history");
  // Depthwise bf16 needs a workspace, which one image has and sixteen have not.
  TrialOptions limited = invariant();
  limited.plan.workspace_limit = 70 * 13 * 11 * 4 * 2 + 128;
  expect_same_bits("cpu", "fwd bf16 n1 g70 c70 k70 i13x11 f3x3 p1", limited);
  limited.plan.workspace_limit = 0;
  expect_same_bits("cpu", "fwd fp32 n1 c24 k40 i13x11 f3x3 p1", limited);

  const auto device = open_device("cpu");
  const auto plan = make_plan(*device, problem_of("fwd fp32 n4 c24 k40 i13x11 f3x3 p1"), invariant().plan);
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  EXPECT_EQ((*plan)->description().kernel, "cpu_builtin_gemm");
  PlanOptions onednn = invariant().plan;
  onednn.kernel = "onednn";
  const auto refused = make_plan(*device, problem_of("fwd fp32 n4 c24 k40 i13x11 f3x3 p1"), onednn);
  EXPECT_THAT(refused.status().message(), HasSubstr("oneDNN chooses its loops by the batch"));
}

// What the option is for: a kernel that divides its sums as far as its tiles leave multiprocessors idle. It is found
// out.
TEST(Batches, FindKernelsThatDependOnThem) {
  const auto device = simulated_hopper();
  const ConvProblem problem = problem_of("fwd bf16>fp32 n1 c1024 k24 i5x5 f3x3 p1");
  const DeviceInfo& info = device->info();
  const View one(problem, rates_of(info));
  ConvProblem many_images = problem;
  many_images.n = 64;
  const View many(many_images, rates_of(info));
  const KernelConfig config = first_kernel(problem, [&](const KernelConfig& c) {
    return c.kind == Kind::kTma && c.gemm.split_k == SplitK::kWorkspace && accepts(c, many_images) &&
           bind(c, one, info).parts != bind(c, many, info).parts;
  });
  TrialOptions options;
  options.plan.kernel = name_of(config);
  const Result<BatchProof> found = prove_batches(device, problem, options, {1, 64});
  EXPECT_EQ(found.status().code(), Code::kVerificationFailed);
  EXPECT_THAT(found.status().message(), HasSubstr("an image has other bits at place"));
  options.plan.batch_invariant = true;
  const Result<BatchProof> kept = prove_batches(device, problem, options, {1, 64});
  EXPECT_TRUE(kept.ok()) << kept.status().message();
}

TEST(Batches, HaveNoWeightGradients) {
  const auto device = open_device("cpu");
  const auto proof = prove_batches(*device, problem_of("bwd_weight fp32 n2 c8 k8 i5x5 f3x3 p1"), invariant());
  EXPECT_THAT(proof.status().message(), HasSubstr("sums over images"));
}

}  // namespace
}  // namespace wt
