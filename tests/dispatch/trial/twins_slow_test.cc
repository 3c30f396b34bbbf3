// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/trial/twins_slow_test.cc - a sample of the kernels, compiled for real targets: no two names are one
// kernel. `wavetile targets --rule-set tests` compiles all of `tests`, `--rule-set default` those of default.
#include <gtest/gtest.h>

#include <algorithm>

#include "config/fields.h"
#include "dispatch/trial/code_check.h"
#include "kernels/portable/device/layout.h"
#include "rules/rules.h"

namespace wt {
namespace {

void expect_no_faults(const std::vector<KernelConfig>& kernels) {
  for (const CodeCheck& check : check_code(kernels)) {
    EXPECT_FALSE(check.machine_code.empty()) << name_of(check.config) << check.missing;
    for (const std::string& fault : check.faults) ADD_FAILURE() << name_of(check.config) << ": " << fault;
  }
}

// Every sixteenth of `tests`, whose order puts like beside like, from a place that differs by target.
std::vector<KernelConfig> sample_of_tests(Target target, size_t first) {
  const std::vector<KernelConfig> all = list_kernels({.target = target, .rule_set = RuleSet::kTests}).kernels;
  std::vector<KernelConfig> sample;
  for (size_t i = first; i < all.size(); i += 16) sample.push_back(all[i]);
  return sample;
}

// Forms of one tile that are likeliest to be the same: every loop, scheduler, number of stages and buffers, division of
// the sum and order of its parts, once.
std::vector<KernelConfig> neighbours(Target target) {
  std::vector<KernelConfig> kernels;
  for (const KernelConfig& c : list_kernels(
                                   {.target = target,
                      .rule_set = RuleSet::kProfiler,
                      .directions = {Direction::kBackwardWeight},
                      .types = {DataType::kF16},
                      .dims = {2}}).kernels) {
    const GemmConfig& gemm = c.gemm;
    if (c.kind == Kind::kPortable && c.w == DataType::kF16 && gemm.tile == Extent3{64, 64, 32} &&
        gemm.warps == Extent3{2, 2, 1} && gemm.mma.m == 16 && gemm.vector_a == 8 && gemm.vector_b == 8 &&
        gemm.groups_per_tile <= 2 && !gemm.explicit_gemm && gemm.load_warps != 4)
      kernels.push_back(c);
  }
  return kernels;
}

#if WT_HAVE_CLANG
TEST(Twins, NoneAmongFormsOfOneTileOnAmd) {
  for (const Target target : {Target::kGfx942, Target::kGfx1100}) {
    const std::vector<KernelConfig> kernels = neighbours(target);
    ASSERT_GE(kernels.size(), 18u) << text_of(target);
    expect_no_faults(kernels);
  }
}
TEST(Twins, NoneInASampleOfTestsOnAmd) {
  expect_no_faults(sample_of_tests(Target::kGfx942, 0));
  expect_no_faults(sample_of_tests(Target::kGfx1201, 3));
}
#endif

#if WT_HAVE_NVRTC
TEST(Twins, NoneInASampleOfTestsOnNvidia) {
  expect_no_faults(sample_of_tests(Target::kSm80, 0));
  expect_no_faults(sample_of_tests(Target::kSm90a, 5));
}
#endif

}  // namespace
}  // namespace wt
