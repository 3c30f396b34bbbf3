// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/stacked_test.cc - wgmma kernels for small groups: exact on their edges, apart from each
// other's non-finite values, and cut evenly.
#include <gtest/gtest.h>

#include <cmath>

#include "dispatch/choice/candidates.h"
#include "kernels/stacked/device/shape.h"
#include "kernels/stacked/view.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// The accepting kernels of the design, best guess first.
std::vector<RankedCandidate> stacked_kernels(const ConvProblem& problem) {
  std::vector<RankedCandidate> kernels = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
  std::erase_if(kernels, [&](const RankedCandidate& c) {
    return !c.accepts() || c.config.family() != Family::kDirect || c.config.kind != Kind::kStacked;
  });
  return kernels;
}

class StackedExact : public testing::TestWithParam<const char*> {};

TEST_P(StackedExact, OnTheSimulator) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of(GetParam());
  const auto kernels = stacked_kernels(problem);
  ASSERT_FALSE(kernels.empty());
  expect_exact(*device, problem, kernels.front().config);
}

INSTANTIATE_TEST_SUITE_P(Edges, StackedExact,
                         testing::Values("fwd bf16 n9 c64 k64 g4 i7x7 f3x3 p1",         // seven images side by side
                                         "fwd bf16 n3 c96 k96 g3 i9x25 f3x3 p1 +relu",  // half a slice of channels
                                         "fwd bf16 n1 c32 k32 g1 i3x100 f3x3 p1",       // two tiles of columns
                                         "fwd fp16 n1 c32 k32 g2 i1x1 f3x3 p1",         // smaller than the filter
                                         "fwd bf16 n1 c64 k64 g2 i6x20 f3x3",           // no padding
                                         "fwd bf16 n3 c160 k160 g5 i5x20 f3x3 p1 +scale+bias+residual+amax",
                                         "fwd bf16 n1 c64 k64 g4 i4x9 f3x3 p4:5x1:1",  // rows that are padding alone
                                         "fwd bf16 n1 c32 k32 g1 i4x9 f3x3 s2 p5:3x1:1",
                                         "bwd_data bf16 n2 c64 k64 g2 i9x9 f3x3 p1",         //
                                         "bwd_data fp16 n1 c80 k80 g5 i5x66 f3x3 p0:2x2:0",  // uneven padding
                                         "bwd_data bf16 n2 c32 k32 g1 i6x60 f5x5 +bias",     //
                                         "fwd bf16 n1 c64 k64 g4 i9x70 f5x5 p2",             //
                                         "fwd bf16 n300 c64 k64 g2 i2x50 f3x3 p1 +amax",  // more strips than consumers
                                         "fwd bf16 n2 c64 k64 g2 i11x10 f3x3 s2 p1",      //
                                         "fwd bf16 n1 c48 k48 g3 i9x131 f3x3 s2 p2:0x0:1"));  // columns no tap meets

// Consumers side by side in 128 channels; the last slice has channels for one of them alone.
TEST(StackedExact, OfNeighbouringChannels) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of("fwd bf16 n2 c176 k176 g11 i21x25 f3x3 s2 p1");
  auto kernels = stacked_kernels(problem);
  std::erase_if(kernels, [](const RankedCandidate& c) { return !stacked::apart(c.config); });
  ASSERT_FALSE(kernels.empty());
  expect_exact(*device, problem, kernels.front().config);
}

TEST(StackedRefuses, OtherWidths) {
  for (const char* text : {"fwd bf16 n1 c96 k96 g2 i9x9 f3x3 p1", "fwd bf16 n1 c48 k48 g2 i9x9 f3x3 p1",
                           "fwd bf16 n1 c64 k32 g2 i9x9 f3x3 p1", "bwd_data bf16 n1 c64 k64 g2 i9x9 f3x3 s2 p1",
                           "fwd bf16 n1 c64 k64 g2 i9x9 f3x3 d2 p2"}) {
    EXPECT_TRUE(stacked_kernels(problem_of(text)).empty()) << text;
  }
}

// The last pixel of the first of two images in a strip is infinite in channel 3: it reaches its own group's outputs
// that its taps meet, and neither the neighbour image nor the neighbour group.
TEST(StackedNonFinite, StaysInItsGroupAndReach) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {"fwd bf16 n2 c64 k64 g2 i5x6 f3x3 p1", "bwd_data bf16 n2 c64 k64 g4 i5x6 f3x3 p1"}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = stacked_kernels(problem);
    ASSERT_FALSE(kernels.empty()) << text;
    const auto plan = make_kernel_plan(*device, problem, kernels.front().config, "tested");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const auto tensors = TrialTensors::make(*device, problem, true, 7);
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    void* input = (*tensors)->pointers()[problem.direction == Direction::kForward ? Tensor::kX : Tensor::kY];
    const uint16_t infinity = 0x7f80;
    ASSERT_TRUE((*device)->copy_in(static_cast<uint16_t*>(input) + 29 * 64 + 3, &infinity, sizeof infinity).ok());
    ASSERT_TRUE((*plan)->execute((*tensors)->pointers(), nullptr).ok());
    ASSERT_TRUE((*tensors)->fetch_outputs().ok());
    const auto* bits = reinterpret_cast<const uint16_t*>(output_of(problem, (*tensors)->host()).data());
    int64_t reached = 0;
    for (int64_t i = 0; i < problem.output_elements(); ++i) {
      if ((bits[i] & 0x7f80) != 0x7f80) continue;
      ++reached;
      const int64_t pixel = i / 64;
      EXPECT_LT(i % 64, problem.c_per_group()) << text << " element " << i;
      EXPECT_TRUE(pixel < 30 && pixel % 6 >= 4 && pixel / 6 >= 3) << text << " element " << i;
    }
    EXPECT_GT(reached, 0) << text;
  }
}

// Layers of grouped ResNets on 132 multiprocessors: two segments for each block, all but four of them busy.
TEST(StackedCut, FillsTheMultiprocessors) {
  for (const char* text :
       {"fwd bf16 n16 c1024 k1024 g32 i25x25 f3x3 p1", "bwd_data bf16 n16 c512 k512 g32 i50x50 f3x3 p1"}) {
    const ConvProblem problem = problem_of(text);
    const StackedCut cut = cut_stacked(stacked_kernels(problem).front().config, problem, 132);
    EXPECT_EQ(cut.grid, 128) << text;
    EXPECT_EQ(cut.segments, 2) << text;
    EXPECT_EQ(cut.strips * cut.segments * cut.slices, cut.grid * stacked::kConsumers) << text;
  }
  const ConvProblem narrow = problem_of("fwd bf16 n16 c64 k64 g2 i7x7 f3x3 p1");
  EXPECT_EQ(cut_stacked(stacked_kernels(narrow).front().config, narrow, 132).images, 7);
}

}  // namespace
}  // namespace wt
