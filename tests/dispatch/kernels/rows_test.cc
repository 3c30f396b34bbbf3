// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/rows_test.cc - the kernel for few input channels: exact on its edges, and where it is chosen.
#include <gtest/gtest.h>

#include "kernels/rows/view.h"
#include "tests/dispatch/rows_kernels.h"

namespace wt {
namespace {

struct RowsCase {
  const char* problem;
  int load_warps;
};

class RowsExact : public ::testing::TestWithParam<RowsCase> {};

TEST_P(RowsExact, OnTheSimulator) { expect_exact_rows(GetParam().problem, GetParam().load_warps); }

INSTANTIATE_TEST_SUITE_P(
    Problems, RowsExact,
    ::testing::Values(RowsCase{"fwd bf16 n2 c3 k64 i40x48 f7x7 s2 p3", 1},              // windows at odd elements
                      RowsCase{"fwd bf16 n1 c3 k40 i21x300 f7x7 s2 p3 +bias+relu", 4},  // strips, columns left over
                      RowsCase{"fwd bf16 n1 c3 k64 i12x272 f3x3 s2 p1:0x0:1", 1},       // uneven padding
                      RowsCase{"fwd fp16 n3 c1 k32 i28x28 f5x5 p2 +residual", 4},       // two classes
                      RowsCase{"fwd bf16 n1 c3 k100 i9x40 f3x3 p1", 4},          // two classes, two tiles of columns
                      RowsCase{"fwd bf16 n2 c1 k1 i7x5 f5x5 p3", 4},             // rows of odd length, one channel
                      RowsCase{"fwd bf16 n1 c3 k13 i2x3 f7x7 s2 p3", 4},         // image smaller than the filter
                      RowsCase{"fwd bf16 n1 c3 k136 i16x16 f3x3 p1", 1},         // the same in bulk
                      RowsCase{"fwd bf16>fp32 n1 c5 k24 i10x11 f3x3 s3 p2", 4},  // fp32 output, odd step
                      RowsCase{"fwd bf16 n1 c8 k16 i11x9 f7x7 s4x1 p0", 1},      // 7 octets, strides apart
                      RowsCase{"fwd bf16 n1 c3 k24 i35x37 f11x11 s4 p2", 4},     // 28 steps
                      RowsCase{"fwd bf16 n1 c3 k96 i16x16 f4x4 s4", 1},          // patches
                      RowsCase{"fwd bf16 n1 c6 k8 i5x300 f3x3 p1x7", 4},         // padding over the filter
                      RowsCase{"fwd bf16 n1 c7 k8 i5x7 f3x3 p1", 4},
                      RowsCase{"fwd bf16 n1 c16 k136 i9x19 f3x3 p1", 1},  // whole vectors, filter by four numbers
                      RowsCase{"fwd bf16 n1 c18 k36 i8x8 f3x3 p1", 4},    // filter by two
                      RowsCase{"fwd bf16 n1 c15 k21 i7x9 f3x3 p1", 4},    // number by number, two classes, spread
                      RowsCase{"fwd bf16 n2 c20 k50 i9x10 f5x5", 1},      // pairs of outputs, spread
                      RowsCase{"fwd bf16 n1 c3 k104 i24x40 f8x8 s8", 1},  // patches by four numbers, columns left over
                      RowsCase{"fwd bf16 n1 c3 k21 i9x9 f7x7 s2 p3", 4},  // an odd number of numbers in all
                      RowsCase{"fwd bf16 n3 c24 k144 i13x11 f1x1", 1},    // unit filters: all pixels are one line
                      RowsCase{"fwd fp16 n2 c240 k40 i9x7 f1x1 +relu", 1},
                      RowsCase{"bwd_data bf16 n70 c40 k96 i12x13 f1x1", 1},  // patches that go round
                      RowsCase{"fwd bf16 n800 c1 k8 i5x8 f3x3 p1", 1}));  // slots that are used again

// The line of a unit filter: all images, where nothing lies between their pixels.
TEST(RowsView, UnitFiltersSeeOneLine) {
  const ConvProblem line = rows_seen(problem_of("fwd bf16 n3 c24 k144 i13x11 f1x1"));
  EXPECT_EQ(line.n, 1);
  EXPECT_EQ(line.in, (Spatial{1, 1, 3 * 13 * 11}));
  for (const char* text : {"fwd bf16 n3 c24 k144 i13x11 f1x1 s2", "fwd bf16 n3 c24 k144 i13x11 f1x1 p1",
                           "fwd bf16 n3 c24 k144 i13x11 f1x3 p0x1", "fwd bf16 n3 c24 k144 g2 i13x11 f1x1"})
    EXPECT_FALSE(rows_is_flat(rows_forward(problem_of(text)))) << text;
  EXPECT_TRUE(rows_take_channels(problem_of("bwd_data bf16 n3 c24 k240 i13x11 f1x1")));
  EXPECT_FALSE(rows_take_channels(problem_of("bwd_data bf16 n3 c24 k248 i13x11 f1x1")));
}

// Four warpgroups: those of a first layer whose outputs are spread over two classes, and of long sums.
TEST(RowsGroups, FourTakeFragmentsInTurns) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {"fwd bf16 n2 c1 k32 i28x28 f5x5 p2", "fwd bf16 n3 c20 k50 i12x12 f5x5"}) {
    const ConvProblem problem = problem_of(text);
    auto kernels = rows_kernels(problem);
    std::erase_if(kernels, [](const RankedCandidate& c) { return c.config.gemm.warps.m != 16; });
    ASSERT_FALSE(kernels.empty()) << text;
    expect_exact(*device, problem, kernels.front().config);
  }
}

// Filters that no proposed kernel has: more chunks of 16 bytes than threads, and more than half as many in two classes.
TEST(RowsFilter, MoreChunksThanThreads) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem known = problem_of("fwd bf16 n1 c3 k13 i16x16 f7x7 s2 p3");
  auto kernels = rows_kernels(known);
  std::erase_if(kernels, [](const RankedCandidate& c) { return c.config.gemm.load_warps != 4; });
  ASSERT_FALSE(kernels.empty());
  KernelConfig config = kernels.front().config;
  config.gemm.stages = 2;
  config.gemm.staging = Staging::kDirect;
  config.gemm.vector_c = 1;
  config.gemm.filter_rows = 11;
  config.gemm.tile = {64, 16, 1056};
  config.gemm.mma.n = 16;
  config.gemm.warps.m = 4;
  expect_exact(*device, problem_of("fwd bf16 n1 c8 k13 i12x16 f11x12"), config);
  config.gemm.tile.k = 976;
  expect_exact(*device, problem_of("fwd bf16 n1 c7 k13 i12x16 f11x12"), config);
}

// What is read beside a window meets zeros of the filter, which would not stop a NaN: outputs are NaN where their
// window holds the poisoned element, and nowhere else.
TEST(RowsNonFinite, StaysInItsReceptiveField) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {"fwd bf16 n1 c3 k8 i9x16 f7x7 s2 p3", "fwd bf16 n1 c3 k8 i9x16 f3x3 p1"}) {
    const ConvProblem p = problem_of(text);
    const auto kernels = rows_kernels(p);
    ASSERT_FALSE(kernels.empty()) << text;
    const auto plan = make_kernel_plan(*device, p, kernels.front().config, "tested");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    for (const int64_t channel : {0, 2}) {
      const int64_t h = 4, w = 8;
      const auto tensors = TrialTensors::make(*device, p, true, 7);
      ASSERT_TRUE(tensors.ok()) << tensors.status().message();
      const uint16_t nan = 0x7fc0;
      auto* x = static_cast<uint16_t*>((*tensors)->pointers()[Tensor::kX]) + (h * p.in[2] + w) * p.c + channel;
      ASSERT_TRUE((*device)->copy_in(x, &nan, sizeof nan).ok());
      ASSERT_TRUE((*plan)->execute((*tensors)->pointers(), nullptr).ok());
      ASSERT_TRUE((*tensors)->fetch_outputs().ok());
      const auto* bits = reinterpret_cast<const uint16_t*>(output_of(p, (*tensors)->host()).data());
      for (int64_t i = 0; i < p.y_elements(); ++i) {
        const int64_t r = h + p.pad_lower[1] - i / p.k / p.out()[2] * p.stride[1];
        const int64_t s = w + p.pad_lower[2] - i / p.k % p.out()[2] * p.stride[2];
        const bool meets = r >= 0 && r < p.filter[1] && s >= 0 && s < p.filter[2];
        EXPECT_EQ((bits[i] & 0x7fff) > 0x7f80, meets) << text << " element " << i;
      }
    }
  }
}

TEST(RowsChoice, FewInputChannelsOnly) {
  const auto chosen = [](const char* text) {
    const auto ranked = rank_candidates(problem_of(text), Target::kSm90a, {}, Breadth::kAll);
    return ranked.front().config.gemm.pipeline;
  };
  EXPECT_EQ(chosen("fwd bf16 n64 c3 k64 i224x224 f7x7 s2 p3"), Pipeline::kRows);
  EXPECT_EQ(chosen("fwd bf16 n64 c3 k32 i224x224 f3x3 s2 p1"), Pipeline::kRows);
  EXPECT_NE(chosen("fwd bf16 n64 c64 k64 i56x56 f3x3 p1"), Pipeline::kRows);
  EXPECT_NE(chosen("fwd bf16 n64 c3 k64 i224x224 f7x7 s2 p3 d2"), Pipeline::kRows);
}

// Outputs whose words meet in a bank are read at different times, where there is a better way.
TEST(RowsView, SpreadsOutputsOverBanks) {
  RowsView view{};
  view.step = 20, view.classes = 1, view.class_strip = 64, view.pitch = 2816;
  EXPECT_EQ(rows_spread(view, 1), 1) << "10 words: of neighbours every fourth lies 2 banks off the first";
  view.step = 50;
  EXPECT_EQ(rows_spread(view, 1), 2);
  view.class_strip = 6, view.pitch = 1024;
  EXPECT_EQ(rows_spread(view, 1), 0) << "outputs 4 apart meet in the lines of a narrow strip";
}

TEST(RowsView, OddStepsMakeTwoClasses) {
  const ConvProblem even = problem_of("fwd bf16 n1 c3 k64 i224x224 f7x7 s2 p3");
  const ConvProblem odd = problem_of("fwd bf16 n1 c3 k64 i224x224 f7x7 p3");
  const auto view = [](const ConvProblem& problem) {
    return rows_view(rows_kernels(problem).front().config, View(problem, usual_rates(Target::kSm90a)));
  };
  EXPECT_EQ(view(even).classes, 1);
  EXPECT_EQ(view(even).lead, 1);  // 9 elements of padding
  EXPECT_EQ(view(even).octets, 3);
  EXPECT_EQ(view(odd).classes, 2);
  EXPECT_EQ(view(odd).strip % 2, 0);
  EXPECT_LE(view(odd).pitch, 1024);
}

}  // namespace
}  // namespace wt
