// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/trial/batches_slow_test.cc - a kernel of every kind and way to add parts, in batches of several sizes.
#include <gmock/gmock.h>

#include "dispatch/choice/batch_invariant.h"
#include "dispatch/choice/filter.h"
#include "dispatch/plan/images.h"
#include "dispatch/trial/batches.h"
#include "tests/dispatch/one_of_each.h"

namespace wt {
namespace {

// Every kernel that passes the filter keeps its word, whoever proposes it.
void expect_kernels_keep_bits(const char* device_id, size_t least_kinds, std::initializer_list<const char*> texts) {
  const auto opened = open_device(device_id);
  ASSERT_TRUE(opened.ok()) << opened.status().message();
  const std::shared_ptr<Device>& device = *opened;
  std::set<Kind> kinds;
  for (const char* text : texts) {
    const ConvProblem problem = problem_of(text);
    const ConvProblem many = of_images(problem, kCanonicalImages[0]), image = of_images(problem, 1);
    PlanOptions options{.strict_nonfinite = true, .batch_invariant = true};
    const View view(many, rates_of(device->info())), one(image, rates_of(device->info()));
    for (const KernelConfig& config : one_of_each(many, device->info().target)) {
      if (config.finite_only || varies_with_batch(config, view, one, device->info(), options)) continue;
      TrialOptions trial;
      trial.plan = options;
      trial.plan.kernel = to_json(config);
      const Result<BatchProof> proof = prove_batches(device, problem, trial, {1, 2, 5});
      EXPECT_TRUE(proof.ok()) << name_of(config) << " on '" << text << "': " << proof.status().message();
      kinds.insert(config.kind);
    }
  }
  EXPECT_GE(kinds.size(), least_kinds);
}

TEST(BatchesOfEveryKind, KeepTheirBitsOnHopper) {
  expect_kernels_keep_bits("sim:sm_90a", 8,
                           {"fwd bf16>fp32 n1 c64 k24 i5x5 f3x3 p1", "bwd_data bf16 n1 c24 k64 i5x5 f3x3 s2 p1",
                            "fwd bf16 n1 c64 k4 i7x7 f3x3 p1", "fwd bf16 n1 c4 k64 i7x7 f3x3 p1",
                            "fwd bf16 n1 g32 c32 k32 i7x6 f3x3 p1", "fwd bf16 n1 g4 c64 k64 i7x7 f3x3 p1"});
}

TEST(BatchesOfEveryKind, KeepTheirBitsOnAmpere) {
  expect_kernels_keep_bits("sim:sm_80", 4,
                           {"fwd bf16>fp32 n1 c32 k24 i5x5 f3x3 p1", "fwd bf16 n1 g32 c32 k32 i7x6 f3x3 p1",
                            "fwd bf16 n1 g4 c64 k64 i7x7 f3x3 p1"});
}

TEST(BatchesOfEveryKind, KeepTheirBitsOnAmd) {
  expect_kernels_keep_bits("sim:gfx942", 4,
                           {"fwd bf16>fp32 n1 c64 k64 i5x5 f3x3 p1", "fwd bf16 n1 g32 c32 k32 i7x6 f3x3 p1"});
}

TEST(BatchesOfEveryKind, KeepTheirBitsOnBlackwell) {
  expect_kernels_keep_bits("sim:sm_100a", 2, {"fwd bf16>fp32 n1 c64 k64 i5x5 f3x3 p1"});
}

}  // namespace
}  // namespace wt
