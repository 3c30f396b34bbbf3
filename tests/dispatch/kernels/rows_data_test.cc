// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/rows_data_test.cc - backward data by the kernel for few channels: exact on its edges, and its
// choice.
#include <gtest/gtest.h>

#include "kernels/rows/device/layout.h"
#include "kernels/rows/view.h"
#include "tests/dispatch/rows_kernels.h"

namespace wt {
namespace {

struct DataCase {
  const char* problem;
  int load_warps;
};

class RowsDataExact : public ::testing::TestWithParam<DataCase> {};

TEST_P(RowsDataExact, OnTheSimulator) { expect_exact_rows(GetParam().problem, GetParam().load_warps); }

INSTANTIATE_TEST_SUITE_P(
    Problems, RowsDataExact,
    ::testing::Values(DataCase{"bwd_data bf16 n2 c128 k3 i10x16 f3x3 p1", 1},            // two classes, in bulk
                      DataCase{"bwd_data bf16 n1 c64 k3 i11x13 f9x9 p4", 4},             // 18 steps, odd image
                      DataCase{"bwd_data bf16 n2 c13 k1 i7x9 f5x5 p2 +grad_relu", 4},    // channels left over, a mask
                      DataCase{"bwd_data fp16 n1 c104 k4 i9x12 f3x3 p1 +residual", 1},   // two tiles of columns
                      DataCase{"bwd_data bf16 n1 c24 k3 i6x9 f3x3 p4x3", 4},             // padding over the filter
                      DataCase{"bwd_data bf16>fp32 n1 c20 k2 i9x10 f5x3 p1:3x0:1", 4},   // uneven
                      DataCase{"bwd_data bf16 n2 c72 k36 i6x10 f3x3 p1", 1},             // 42 octets of k
                      DataCase{"bwd_data bf16 n1 c64 k18 i7x12 f1x1", 1},                // three octets in four
                      DataCase{"bwd_data bf16 n2 c50 k17 i5x7 f1x1 +grad_silu", 4},      // odd, by pairs
                      DataCase{"bwd_data bf16 n1 c32 k10 i6x6 f3x5 p1x3 +residual", 1},  // seven octets
                      DataCase{"fwd bf16 n1 c18 k24 i9x20 f1x1 s2", 4},                  // forward, strided
                      DataCase{"fwd bf16 n1 c36 k40 i5x9 f3x3 p1 +bias", 4},
                      DataCase{"bwd_data bf16 n2 c20 k50 i12x12 f5x5", 1},          // 160 octets, columns by pairs
                      DataCase{"bwd_data bf16 n1 c38 k13 i7x9 f5x5 p2:1x4", 4},     // the same of odd channels
                      DataCase{"bwd_data fp16 n1 c40 k10 i6x20 f5x5 p2 +relu", 4},  // columns by vectors
                      DataCase{"fwd bf16 n1 c20 k50 i9x24 f5x5 s1x2", 1},           // forward, 65 octets
                      DataCase{"fwd bf16 n1 c9 k10 i7x7 f5x5 p2", 4}));

TEST(RowsDataGroups, TwoOfLongSumsAreExact) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of("bwd_data bf16 n2 c136 k36 i5x10 f3x3 p1");
  auto kernels = rows_kernels(problem);
  std::erase_if(kernels, [](const RankedCandidate& c) { return c.config.gemm.warps.m != 8; });
  ASSERT_FALSE(kernels.empty());
  expect_exact(*device, problem, kernels.front().config);
}

TEST(RowsDataOctets, LeaveTheRegistersExactly) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of("bwd_data bf16 n1 c168 k36 i5x10 f3x3 p1 +relu");
  auto kernels = rows_kernels(problem);
  std::erase_if(kernels, [](const RankedCandidate& c) {
    return !rows_layout::stores_octets(c.config) || c.config.gemm.tile.n != 128;
  });
  ASSERT_FALSE(kernels.empty());
  expect_exact(*device, problem, kernels.front().config);
}

// Numbers of dy beside a window meet zeros of the filter, which would not stop a NaN.
TEST(RowsDataNonFinite, StaysInItsReceptiveField) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {"bwd_data bf16 n1 c8 k3 i9x16 f3x3 p1", "bwd_data bf16 n1 c8 k18 i9x8 f1x1"}) {
    const ConvProblem p = problem_of(text);
    const auto kernels = rows_kernels(p);
    ASSERT_FALSE(kernels.empty());
    const auto plan = make_kernel_plan(*device, p, kernels.front().config, "tested");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    for (const int64_t channel : {int64_t{0}, p.k - 1}) {
      const int64_t row = 4, column = 6;
      const auto tensors = TrialTensors::make(*device, p, true, 7);
      ASSERT_TRUE(tensors.ok()) << tensors.status().message();
      const uint16_t nan = 0x7fc0;
      auto* dy =
          static_cast<uint16_t*>((*tensors)->pointers()[Tensor::kY]) + (row * p.out()[2] + column) * p.k + channel;
      ASSERT_TRUE((*device)->copy_in(dy, &nan, sizeof nan).ok());
      ASSERT_TRUE((*plan)->execute((*tensors)->pointers(), nullptr).ok());
      ASSERT_TRUE((*tensors)->fetch_outputs().ok());
      const auto* bits = reinterpret_cast<const uint16_t*>(output_of(p, (*tensors)->host()).data());
      for (int64_t i = 0; i < p.x_elements(); ++i) {
        const int64_t r = i / p.c / p.in[2] + p.pad_lower[1] - row, s = i / p.c % p.in[2] + p.pad_lower[2] - column;
        const bool meets = r >= 0 && r < p.filter[1] && s >= 0 && s < p.filter[2];
        EXPECT_EQ((bits[i] & 0x7fff) > 0x7f80, meets) << text << " element " << i;
      }
    }
  }
}

TEST(RowsDataChoice, FewOutputChannelsWithUnitStrides) {
  const auto chosen = [](const char* text) {
    return rank_candidates(problem_of(text), Target::kSm90a, {}, Breadth::kAll).front().config;
  };
  EXPECT_TRUE(is_rows(chosen("bwd_data bf16 n1 c128 k3 i1024x1024 f3x3 p1")));
  EXPECT_TRUE(is_rows(chosen("bwd_data bf16 n16 c64 k3 i96x96 f9x9 p4")));
  EXPECT_TRUE(is_rows(chosen("bwd_data bf16 n16 c256 k18 i40x40 f1x1")));
  EXPECT_TRUE(is_rows(chosen("bwd_data bf16 n16 c256 k36 i100x100 f3x3 p1")));
  EXPECT_FALSE(is_rows(chosen("bwd_data bf16 n64 c64 k64 i56x56 f3x3 p1")));
  EXPECT_TRUE(rows_kernels(problem_of("bwd_data bf16 n1 c64 k24 i56x56 f3x3 p1")).empty());
  EXPECT_TRUE(rows_kernels(problem_of("bwd_data bf16 n1 c64 k3 i96x96 f3x3 s2 p1")).empty());
  EXPECT_TRUE(rows_kernels(problem_of("bwd_data bf16 n1 c64 k3 i96x96 f3x3 p2 d2")).empty());
}

TEST(RowsDataView, IsTheForwardViewOfTheTurnedProblem) {
  const ConvProblem data = rows_forward(problem_of("bwd_data bf16 n2 c64 k3 i30x40 f5x3 p1:2x0:4"));
  EXPECT_EQ(data.out(), (Spatial{1, 30, 40}));
  EXPECT_EQ(data.in, (Spatial{1, 29, 42}));
  EXPECT_EQ(data.pad_lower, (Spatial{0, 3, 2}));
  EXPECT_EQ(data.pad_upper, (Spatial{0, 2, -2}));
  EXPECT_EQ(rows_runs(View(problem_of("bwd_data bf16 n2 c64 k3 i30x40 f5x3 p1"), usual_rates(Target::kSm90a))).run, 9);
}

}  // namespace
}  // namespace wt
