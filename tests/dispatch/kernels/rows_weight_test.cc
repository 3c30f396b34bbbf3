// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/rows_weight_test.cc - weight gradients of few input channels: exact on their edges, and where
// chosen.
#include <gtest/gtest.h>

#include <set>

#include "kernels/rows_weight/device/layout.h"
#include "kernels/rows_weight/view.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

std::vector<KernelConfig> weight_kernels(const ConvProblem& problem) {
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    if (c.accepts() && c.config.kind == Kind::kRowsWeight) kernels.push_back(c.config);
  }
  return kernels;
}

struct WeightCase {
  const char* problem;
  int positions, groups, load_warps;
  int splits = 0;   // PlanOptions::splits
  int columns = 0;  // 0: any
};

class RowsWeightExact : public ::testing::TestWithParam<WeightCase> {};

TEST_P(RowsWeightExact, OnTheSimulator) {
  const WeightCase& at = GetParam();
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of(at.problem);
  auto kernels = weight_kernels(problem);
  std::erase_if(kernels, [&](const KernelConfig& c) {
    return c.gemm.load_warps != at.load_warps || c.gemm.tile.m != at.positions || c.gemm.warps.k != at.groups ||
           (at.columns > 0 && c.gemm.tile.n != at.columns);
  });
  ASSERT_FALSE(kernels.empty());
  expect_exact(*device, problem, kernels.front(), at.splits);
}

INSTANTIATE_TEST_SUITE_P(
    Problems, RowsWeightExact,
    ::testing::Values(
        WeightCase{"bwd_weight bf16 n2 c3 k64 i40x48 f7x7 s2 p3", 192, 2, 1, 5},   // one number before a filter row
        WeightCase{"bwd_weight bf16 n1 c3 k40 i21x300 f7x7 s2 p3", 192, 2, 4, 3},  // strips, columns left over
        WeightCase{"bwd_weight bf16 n1 c3 k64 i12x272 f3x3 s2 p1:0x0:1", 64, 2, 1, 2},  // uneven padding
        WeightCase{"bwd_weight fp16 n3 c1 k32 i28x28 f5x5 p2", 64, 2, 4, 7},            // even and odd starts in turns
        WeightCase{"bwd_weight bf16 n2 c3 k136 i9x40 f3x3 p1 +residual", 64, 2, 1},     // odd starts first, 3 tiles
        WeightCase{"bwd_weight bf16 n2 c1 k8 i7x5 f5x5 p3", 64, 2, 4, 1},               // rows of odd length
        WeightCase{"bwd_weight bf16 n1 c3 k16 i2x3 f7x7 s2 p3", 192, 2, 4},             // image smaller than the filter
        WeightCase{"bwd_weight bf16 n2 c16 k72 i8x16 f3x3 p1", 192, 2, 1, 3},           // 16 channels
        WeightCase{"bwd_weight bf16 n1 c3 k24 i35x37 f11x11 s4 p2", 192, 2, 4, 2},      // two tiles of positions
        WeightCase{"bwd_weight bf16 n1 c3 k64 i42x56 f14x14 s14", 192, 2, 1},           // patches of 14
        WeightCase{"bwd_weight bf16>fp32 n3 c4 k24 i10x14 f3x3 s4x1 p1", 64, 2, 1, 4},  // rows that no window touches
        WeightCase{"bwd_weight bf16 n1 c7 k8 i5x9 f3x2 p1x0", 64, 2, 4, 2},
        WeightCase{"bwd_weight bf16 n1 c3 k40 i9x16 f3x3 s2 p1", 64, 2, 1, 2, 32},      // narrow boxes
        WeightCase{"bwd_weight bf16 n1 c64 k3 i12x16 f3x3 p1 +residual", 64, 2, 1, 3},  // few output channels
        WeightCase{"bwd_weight fp16 n2 c72 k5 i9x11 f5x2 p0:3x2:0", 64, 2, 4, 2},       // the same, uneven padding
        WeightCase{"bwd_weight bf16 n1 c16 k2 i6x7 f1x3 p2x4", 64, 2, 4},               // padding over the filter
        WeightCase{"bwd_weight bf16 n30 c1 k8 i4x8 f1x3 p0x1", 64, 2, 1, 1},            // slots that are used again
        WeightCase{"bwd_weight bf16 n64 c3 k40 i16x48 f7x7 s2 p3", 192, 2, 1, 5},       // pairs of rows
        WeightCase{"bwd_weight bf16 n20 c64 k4 i16x24 f3x3 p1", 64, 2, 1, 3}));         // the same, few outputs

// Rows are multiplied in pairs where all of them have whole octets, and a unit an even number of steps.
TEST(RowsWeightView, PairsRowsOfWholeOctets) {
  const auto paired = [](const char* text) {
    const ConvProblem problem = problem_of(text);
    for (const KernelConfig& c : weight_kernels(problem)) {
      if (c.gemm.tile.m == 192 && c.gemm.warps.k == 2)
        return rows_weight_view(c, View(problem, usual_rates(Target::kSm90a))).paired;
    }
    ADD_FAILURE() << text;
    return false;
  };
  EXPECT_TRUE(paired("bwd_weight bf16 n64 c3 k64 i224x224 f7x7 s2 p3"));
  EXPECT_TRUE(paired("bwd_weight bf16 n64 c3 k40 i16x48 f7x7 s2 p3"));
  EXPECT_FALSE(paired("bwd_weight bf16 n64 c3 k40 i16x52 f7x7 s2 p3"));  // 26 outputs a row
  EXPECT_FALSE(paired("bwd_weight bf16 n64 c3 k40 i18x48 f7x7 s2 p3"));  // nine rows
  EXPECT_FALSE(paired("bwd_weight bf16 n64 c3 k40 i16x48 f7x7 p3"));     // odd starts
}

// Without images the gradient is zero, and what is added to it remains.
TEST(RowsWeightEmpty, LeavesWhatIsAdded) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of("bwd_weight bf16 n0 c3 k64 i12x16 f7x7 s2 p3 +residual");
  const auto kernels = weight_kernels(problem);
  ASSERT_FALSE(kernels.empty());
  expect_exact(*device, problem, kernels.front());
}

// Outputs that do not exist fill up steps, with zeros that would not stop a NaN: elements of the gradient are NaN where
// the poisoned number is in a window of theirs, and nowhere else.
TEST(RowsWeightNonFinite, StaysInItsReceptiveField) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {"bwd_weight bf16 n1 c3 k8 i20x24 f3x3 s4 p1", "bwd_weight bf16 n1 c1 k8 i9x16 f3x2 s3"}) {
    const ConvProblem p = problem_of(text);
    const auto kernels = weight_kernels(p);
    ASSERT_FALSE(kernels.empty()) << text;
    const auto plan = make_kernel_plan(*device, p, kernels.front(), "tested");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    for (const int64_t w : {p.in[2] - 1, p.in[2] - 2, p.in[2] - 3}) {
      const int64_t h = 4, channel = p.c - 1;
      const auto tensors = TrialTensors::make(*device, p, true, 7);
      ASSERT_TRUE(tensors.ok()) << tensors.status().message();
      ASSERT_TRUE((*tensors)->reserve_workspace((*plan)->workspace_bytes()).ok());
      const uint16_t nan = 0x7fc0;
      auto* x = static_cast<uint16_t*>((*tensors)->pointers()[Tensor::kX]) + (h * p.in[2] + w) * p.c + channel;
      ASSERT_TRUE((*device)->copy_in(x, &nan, sizeof nan).ok());
      ASSERT_TRUE((*plan)->execute((*tensors)->pointers(), nullptr).ok());
      ASSERT_TRUE((*tensors)->fetch_outputs().ok());
      const auto* bits = reinterpret_cast<const uint16_t*>(output_of(p, (*tensors)->host()).data());
      const auto meets = [](int64_t at, int64_t stride, int64_t out) {
        return at >= 0 && at % stride == 0 && at / stride < out;
      };
      for (int64_t i = 0; i < p.w_elements(); ++i) {
        const int64_t r = i / p.c / p.filter[2] % p.filter[1], s = i / p.c % p.filter[2];
        const bool has = i % p.c == channel && meets(h + p.pad_lower[1] - r, p.stride[1], p.out()[1]) &&
                         meets(w + p.pad_lower[2] - s, p.stride[2], p.out()[2]);
        EXPECT_EQ((bits[i] & 0x7fff) > 0x7f80, has) << text << " w=" << w << " element " << i;
      }
    }
  }
}

TEST(RowsWeightSameBits, WhateverTheOrderOfWarps) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n2 c3 k64 i24x48 f7x7 s2 p3");
  const KernelConfig config = weight_kernels(problem).front();
  const auto first = random_output(problem, config, "1");
  ASSERT_FALSE(first.empty());
  EXPECT_EQ(first, random_output(problem, config, "2"));
}

TEST(RowsWeightChoice, FewInputChannelsOnly) {
  const auto chosen = [](const char* text) {
    const auto ranked = rank_candidates(problem_of(text), Target::kSm90a, {}, Breadth::kAll);
    return ranked.front().config.kind == Kind::kRowsWeight;
  };
  EXPECT_TRUE(chosen("bwd_weight bf16 n64 c3 k64 i224x224 f7x7 s2 p3"));
  EXPECT_TRUE(chosen("bwd_weight bf16 n64 c3 k32 i224x224 f3x3 s2 p1"));
  EXPECT_FALSE(chosen("bwd_weight bf16 n64 c64 k64 i56x56 f3x3 p1"));
  EXPECT_TRUE(chosen("bwd_weight bf16 n1 c128 k3 i1024x1024 f3x3 p1"));
  EXPECT_FALSE(chosen("bwd_weight bf16 n1 c128 k3 i1024x1024 f3x3 p1 s2"));
  EXPECT_TRUE(chosen("bwd_weight bf16 n64 c3 k63 i224x224 f7x7 s2 p3"));
}

TEST(RowsWeightView, LanesCountEveryWordOnce) {
  for (const int row_words : {1, 3, 8, 11, 24}) {
    std::set<std::pair<int, int>> seen;
    for (int i = 0; i < 7 * row_words; ++i) {
      const auto word = rows_weight_layout::word_of(7, row_words, i);
      EXPECT_TRUE(word.row < 7 && word.at < row_words && seen.emplace(word.row, word.at).second) << row_words << i;
    }
  }
}

TEST(RowsWeightView, UnitsAreWholeSteps) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n64 c3 k64 i224x224 f7x7 s2 p3");
  for (const KernelConfig& config : weight_kernels(problem)) {
    const RowsWeightView view = rows_weight_view(config, View(problem, usual_rates(Target::kSm90a)));
    EXPECT_EQ(view.row_words, 11);  // 21 numbers and one before them
    EXPECT_EQ(view.strip % 8, 0);
    EXPECT_EQ(view.octets() * view.tile_rows % 2, 0);
    EXPECT_EQ(view.chunk_rows * view.pitch % 128, 0);
    EXPECT_LE(view.pitch, 1024);
    EXPECT_LT(view.bank_waves, 1.5);
    EXPECT_LE(rows_weight_parts(config, view, 132) * view.tiles_m * view.tiles_n, 132);
  }
}

}  // namespace
}  // namespace wt
