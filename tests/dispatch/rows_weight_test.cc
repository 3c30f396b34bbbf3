// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/rows_weight_test.cc - weight gradients of few input channels: exact on their edges, and where chosen.
#include <gtest/gtest.h>

#include "config/rows_weight_view.h"
#include "dispatch/candidates.h"
#include "exact_trial.h"
#include "kernel/gemm/rows/weight_layout.h"

namespace wt {
namespace {

std::vector<KernelConfig> weight_kernels(const ConvProblem& problem) {
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Candidates::kAll)) {
    if (c.accepts() && rows_weight_layout::serves(c.config)) kernels.push_back(c.config);
  }
  return kernels;
}

struct WeightCase {
  const char* problem;
  int positions, groups, load_warps;
  const char* splits;  // WAVETILE_SPLITS; null: as predicted
};

class RowsWeightExact : public ::testing::TestWithParam<WeightCase> {};

TEST_P(RowsWeightExact, OnTheSimulator) {
  const WeightCase& at = GetParam();
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of(at.problem);
  auto kernels = weight_kernels(problem);
  std::erase_if(kernels, [&](const KernelConfig& c) {
    return c.gemm.load_warps != at.load_warps || c.gemm.tile.m != at.positions || c.gemm.warps.k != at.groups;
  });
  ASSERT_FALSE(kernels.empty());
  if (at.splits) ::setenv("WAVETILE_SPLITS", at.splits, 1);
  expect_exact(*device, problem, kernels.front());
  if (at.splits) ::unsetenv("WAVETILE_SPLITS");
}

INSTANTIATE_TEST_SUITE_P(
    Problems, RowsWeightExact,
    ::testing::Values(
        WeightCase{"bwd_weight bf16 n2 c3 k64 i40x48 f7x7 s2 p3", 192, 2, 1, "5"},   // one number before a filter row
        WeightCase{"bwd_weight bf16 n1 c3 k40 i21x300 f7x7 s2 p3", 192, 2, 4, "3"},  // strips, columns left over
        WeightCase{"bwd_weight bf16 n1 c3 k64 i12x272 f3x3 s2 p1:0x0:1", 64, 2, 1, "2"},  // uneven padding
        WeightCase{"bwd_weight fp16 n3 c1 k32 i28x28 f5x5 p2", 64, 2, 4, "7"},  // even and odd starts in turns
        WeightCase{"bwd_weight bf16 n2 c3 k136 i9x40 f3x3 p1 +residual", 64, 2, 1,
                   nullptr},                                                            // odd starts first, 3 tiles
        WeightCase{"bwd_weight bf16 n2 c1 k8 i7x5 f5x5 p3", 64, 2, 4, "1"},             // rows of odd length
        WeightCase{"bwd_weight bf16 n1 c3 k16 i2x3 f7x7 s2 p3", 192, 2, 4, nullptr},    // image smaller than the filter
        WeightCase{"bwd_weight bf16 n2 c16 k72 i8x16 f3x3 p1", 192, 2, 1, "3"},         // 16 channels
        WeightCase{"bwd_weight bf16 n1 c3 k24 i35x37 f11x11 s4 p2", 192, 2, 4, "2"},    // two tiles of positions
        WeightCase{"bwd_weight bf16 n1 c3 k64 i42x56 f14x14 s14", 192, 2, 1, nullptr},  // patches of 14
        WeightCase{"bwd_weight bf16>fp32 n3 c4 k24 i10x14 f3x3 s4x1 p1", 64, 2, 1, "4"},  // rows that no window touches
        WeightCase{"bwd_weight bf16 n1 c7 k8 i5x9 f3x2 p1x0", 64, 2, 4, "2"},
        WeightCase{"bwd_weight bf16 n30 c1 k8 i4x8 f1x3 p0x1", 64, 2, 1, "1"}));  // slots that are used again

}  // namespace
}  // namespace wt
