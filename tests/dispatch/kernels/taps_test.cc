// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/taps_test.cc - the kernel for few output channels: exact on its edges, and where it is chosen.
#include <gtest/gtest.h>

#include <algorithm>

#include "dispatch/choice/candidates.h"
#include "kernels/taps/device/layout.h"
#include "kernels/taps/view.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

std::vector<RankedCandidate> taps_kernels(const ConvProblem& problem) {
  std::vector<RankedCandidate> kernels = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
  std::erase_if(kernels, [](const RankedCandidate& c) {
    return !c.accepts() || c.config.family() != Family::kGemm || c.config.gemm.pipeline != Pipeline::kTaps;
  });
  return kernels;
}

// With any filter, with the filter at compile time, and with its rows summed over by the products.
enum class Form { kAny, kKnown, kRows };
Form form_of(const KernelConfig& config) {
  if (taps_layout::sums_rows(config)) return Form::kRows;
  return taps_layout::in_registers(config) ? Form::kKnown : Form::kAny;
}

const RankedCandidate* find(const std::vector<RankedCandidate>& kernels, Form form) {
  const auto found = std::ranges::find_if(kernels, [&](const RankedCandidate& c) { return form_of(c.config) == form; });
  return found == kernels.end() ? nullptr : &*found;
}

class TapsExact : public ::testing::TestWithParam<const char*> {};

TEST_P(TapsExact, OnTheSimulator) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of(GetParam());
  const auto kernels = taps_kernels(problem);
  ASSERT_FALSE(kernels.empty());
  bool tried = false;
  for (const Form form : {Form::kAny, Form::kKnown, Form::kRows}) {
    if (const RankedCandidate* kernel = find(kernels, form)) {
      expect_exact(*device, problem, kernel->config);
      tried = true;
    }
  }
  EXPECT_TRUE(tried);
}

INSTANTIATE_TEST_SUITE_P(Problems, TapsExact,
                         ::testing::Values("fwd bf16 n1 c72 k3 i12x70 f3x3 p1",               // a block and a tail of k
                                           "fwd bf16 n1 c64 k3 i12x70 f9x9 p4 +bias+relu",    // 243 columns
                                           "fwd fp16 n2 c8 k1 i5x3 f5x5 p4 d2",               // filter over the image
                                           "fwd bf16 n1 c136 k5 i7x130 f3x3 p3:0x0:3",        // strips, uneven padding
                                           "fwd bf16 n1 c8 k3 i20x40 f3x3 d7 p20 +residual",  // padding over the reach
                                           "fwd bf16 n1 c8 k8 i1x1 f3x3 p1",                  // one pixel
                                           "fwd bf16 n1 c64 k3 i10x64 f9x9 p4",               // a strip as wide as x
                                           "bwd_data bf16 n1 c3 k32 i8x128 f3x3 s2 p1",       // the same of dy
                                           "bwd_data bf16 n2 c3 k64 i37x41 f7x7 s2 p3",       // phases
                                           "bwd_data bf16 n1 c2 k24 i19x75 f3x3 s3 d2 p2",    // stride and dilation
                                           "bwd_data bf16 n1 c2 k24 i19x30 f1x2 s4x3",        // pixels that meet no tap
                                           "bwd_data bf16 n1 c2 k24 i11x30 f3x3 s2 d2 p1",    // rests that meet no tap
                                           "bwd_data bf16 n2 c3 k200 i8x140 f3x3 s2",         // blocks of k, two strips
                                           "bwd_data bf16 n1 c1 k40 i11x9 f5x5 p2 +bias"));   // one channel

// Source rows that groups keep while slots go round, and groups with fewer rows than others.
TEST(TapsRows, AreExactWhereTheRingGoesRound) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {"fwd bf16 n140 c8 k1 i23x6 f9x9 p4", "bwd_data fp16 n140 c1 k72 i14x6 f3x3 p0x1 +amax"}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = taps_kernels(problem);
    const RankedCandidate* kernel = find(kernels, Form::kRows);
    ASSERT_NE(kernel, nullptr) << text;
    expect_exact(*device, problem, kernel->config);
  }
}

TEST(TapsChoice, LargeFiltersSumOverTheirRows) {
  const auto kernels = taps_kernels(problem_of("fwd bf16 n4 c64 k3 i256x256 f9x9 p4"));
  ASSERT_FALSE(kernels.empty());
  EXPECT_EQ(form_of(kernels.front().config), Form::kRows);
}

TEST(TapsChoice, KnownFiltersStayInRegisters) {
  for (const char* text : {"fwd bf16 n1 c128 k3 i1024x1024 f3x3 p1", "fwd bf16 n4 c64 k3 i256x256 f9x9 p4",
                           "bwd_data bf16 n64 c3 k64 i224x224 f7x7 s2 p3"}) {
    const auto kernels = taps_kernels(problem_of(text));
    ASSERT_FALSE(kernels.empty());
    EXPECT_GT(kernels.front().config.fixed.filter_h, 0) << text;
  }
}

TEST(TapsChoice, FewOutputChannelsOnly) {
  const auto chosen = [](const char* text) {
    const auto ranked = rank_candidates(problem_of(text), Target::kSm90a, {}, Breadth::kAll);
    return ranked.front().config.gemm.pipeline;
  };
  EXPECT_EQ(chosen("fwd bf16 n1 c128 k3 i1024x1024 f3x3 p1"), Pipeline::kTaps);
  EXPECT_EQ(chosen("fwd bf16 n4 c64 k3 i256x256 f9x9 p4"), Pipeline::kTaps);
  EXPECT_EQ(chosen("bwd_data bf16 n64 c1 k32 i28x28 f5x5 p2"), Pipeline::kTaps);
  EXPECT_EQ(chosen("bwd_data bf16 n64 c3 k64 i224x224 f7x7 s2 p3"), Pipeline::kTaps);
  EXPECT_NE(chosen("fwd bf16 n16 c256 k36 i100x100 f3x3 p1"), Pipeline::kTaps);
  EXPECT_NE(chosen("fwd bf16 n16 c256 k16 i100x100 f1x1"), Pipeline::kTaps);
}

// Images of 64 pixels are one strip, whose source ends with them; of 65 the same has no room for the last.
TEST(TapsView, LeavesOutWhatLiesOutside) {
  const TapsView exact = taps_view(problem_of("bwd_data bf16 n2 c4 k320 i64x64 f3x3 p1"));
  EXPECT_EQ(exact.strips, 1);
  EXPECT_EQ(exact.before, 1);
  const TapsView wider = taps_view(problem_of("bwd_data bf16 n2 c4 k320 i64x65 f3x3 p1"));
  EXPECT_EQ(wider.strips, 2);
  EXPECT_EQ(wider.before, 2);
}

// A segment's first rows are multiplied twice, so that a block takes many where there are enough blocks.
TEST(TapsView, SegmentsFillTheMultiprocessors) {
  const ConvProblem large = problem_of("fwd bf16 n1 c128 k3 i1024x1024 f3x3 p1");
  const ConvProblem many = problem_of("fwd bf16 n2048 c128 k3 i64x64 f3x3 p1");
  const auto units = [](const ConvProblem& problem) {
    return taps_segment_units(taps_kernels(problem).front().config, problem, taps_view(problem), 132);
  };
  EXPECT_LT(units(large), 128);
  EXPECT_GT(units(large), 16);
  EXPECT_EQ(units(many), 64);
}

}  // namespace
}  // namespace wt
