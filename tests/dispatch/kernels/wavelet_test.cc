// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/wavelet_test.cc - kernels whose load warps gather: some on the simulator, which are chosen,
// the views.
#include <gmock/gmock.h>

#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/trial/trial.h"
#include "kernels/device/divider.h"
#include "kernels/wavelet/view.h"
#include "problem/random.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

const Rates kRates = usual_rates(Target::kSm90a);

// The accepting wavelet kernels, best guess first.
std::vector<RankedCandidate> wavelet_kernels(const ConvProblem& problem) {
  std::vector<RankedCandidate> kernels = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
  std::erase_if(kernels, [](const RankedCandidate& c) {
    return !c.accepts() || c.config.family() != Family::kGemm || c.config.gemm.pipeline != Pipeline::kWavelet;
  });
  return kernels;
}

// One problem a direction and kind of loader; wavelet_slow_test.cc has the edges.
TEST(WaveletExact, OneProblemOfEachKind) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const auto& [text, loader] : {std::pair{"fwd bf16 n1 c3 k20 i10x12 f7x7 s2 p3 +bias+relu", Loader::kVector},
                                     std::pair{"fwd bf16 n1 c5 k7 i5x4x6 f3x2x1 d2x1x1 p1x0x0", Loader::kGather},
                                     std::pair{"bwd_data bf16 n1 c12 k20 i9x9 f3x3 s3 p2 d2", Loader::kAsync},
                                     std::pair{"bwd_weight bf16 n1 c3 k24 i10x12 f3x3 s2 p1", Loader::kAsync}}) {
    const ConvProblem problem = problem_of(text);
    auto kernels = wavelet_kernels(problem);
    std::erase_if(kernels, [&](const RankedCandidate& c) { return c.config.gemm.loader_a != loader; });
    ASSERT_FALSE(kernels.empty()) << text;
    expect_exact(*device, problem, kernels.front().config);
  }
}

// TMA serves what it can load; the gathering kernels come before the generic one for the rest.
TEST(WaveletChoice, StandsBetweenTmaAndTheGenericKernel) {
  const auto chosen = [](const char* text) {
    const auto ranked = rank_candidates(problem_of(text), Target::kSm90a, {}, Breadth::kAll);
    EXPECT_TRUE(!ranked.empty() && ranked.front().accepts()) << text;
    return ranked.front().config.gemm.pipeline;
  };
  for (const char* text :
       {"fwd bf16 n16 c256 k256 i50x50 f3x3 p1", "fwd bf16 n64 c256 k1024 i14x14 f1x1",
        "bwd_data bf16 n16 c256 k256 i25x25 f3x3 p1", "bwd_data bf16 n64 c128 k128 i56x56 f3x3 s2 p1",
        "bwd_weight bf16 n16 c256 k256 i50x50 f3x3 p1", "fwd bf16 n1 c512 k512 i128x128 f3x3 p1",
        "bwd_data bf16 n1 c64 k128 i64x64x64 f3x3x3 s2 p1", "fwd bf16 n32 c3 k1024 i224x224 f14x14 s14",
        "bwd_data bf16 n32 c3 k1024 i224x224 f14x14 s14"}) {
    EXPECT_EQ(chosen(text), Pipeline::kTma) << text;
  }
  for (const char* text : {"fwd bf16 n64 c3 k64 i224x224 f7x7 s2 p6 d2", "fwd bf16 n8 c100 k100 i400 f5"}) {
    EXPECT_EQ(chosen(text), Pipeline::kWavelet) << text;
  }
}

KernelConfig config_with(int vector, Loader loader) {
  KernelConfig config;
  config.target = Target::kSm90a;
  config.gemm.vector_a = static_cast<unsigned char>(vector);
  config.gemm.loader_a = loader;
  return config;
}

TEST(WaveletView, RowsOfTapsMakeVectorsOfOddChannels) {
  const ConvProblem stem = problem_of("fwd bf16 n1 c3 k64 i224x224 f7x7 s2 p3");
  const auto view = wavelet_view(config_with(2, Loader::kVector), View(stem, kRates));
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->row_is_one_run);
  // Windows start at (2q - 3) * 3, one element past a pair.
  EXPECT_EQ(view->head, 1);
  EXPECT_EQ(view->real, 21);
  EXPECT_EQ(view->run, 22);
  EXPECT_EQ(view->numbers(), 7 * 22);
  // Copies that land by themselves cannot clear the element before the window.
  EXPECT_FALSE(wavelet_view(config_with(2, Loader::kAsync), View(stem, kRates)));
  EXPECT_FALSE(wavelet_view(config_with(4, Loader::kVector), View(stem, kRates)));
  // Odd rows: windows of odd image rows would start elsewhere.
  EXPECT_FALSE(
      wavelet_view(config_with(2, Loader::kVector), View(problem_of("fwd bf16 n1 c3 k64 i31x31 f7x7 s2 p3"), kRates)));
  // Groups lie between each other's channels, and dilated taps do not touch.
  EXPECT_FALSE(wavelet_view(config_with(2, Loader::kVector),
                            View(problem_of("fwd bf16 n1 c6 k64 g2 i32x32 f3x3 s2 p1"), kRates)));
  EXPECT_FALSE(
      wavelet_view(config_with(2, Loader::kVector), View(problem_of("fwd bf16 n1 c3 k64 i32x32 f3x3 s2 d2"), kRates)));
}

TEST(WaveletView, PatchesAreOneTapOfMoreChannels) {
  const auto forward =
      wavelet_view(config_with(8, Loader::kAsync), View(problem_of("fwd bf16 n1 c3 k64 i32x32 f8x8 s8"), kRates));
  ASSERT_TRUE(forward);
  EXPECT_EQ(forward->depth, 24);
  EXPECT_EQ(forward->dim[2].phases.front().taps, 1);
  const auto backward =
      wavelet_view(config_with(8, Loader::kAsync), View(problem_of("bwd_data bf16 n1 c3 k64 i32x32 f8x8 s8"), kRates));
  ASSERT_TRUE(backward);
  EXPECT_EQ(backward->columns, 24);
  EXPECT_EQ(backward->phase_count(), 1 + 8 + 1);
  // A bias of dx has an entry a channel, so its channels must stay what they are.
  const auto biased = wavelet_view(config_with(8, Loader::kAsync),
                                   View(problem_of("bwd_data bf16 n1 c3 k64 i32x32 f8x8 s8 +bias"), kRates));
  ASSERT_TRUE(biased);
  EXPECT_EQ(biased->columns, 3);
}

TEST(WaveletView, PhasesPartitionThePixels) {
  for (const char* text : {"bwd_data bf16 n1 c8 k8 i17x13 f3x3 s3 p2 d2", "bwd_data bf16 n1 c8 k8 i9x9 f2x2 s4",
                           "bwd_data bf16 n1 c8 k8 i5x7x9 f3x3x3 s2x1x3 p1"}) {
    const ConvProblem problem = problem_of(text);
    const auto view = wavelet_view(config_with(8, Loader::kAsync), View(problem, kRates));
    ASSERT_TRUE(view);
    for (size_t i = 0; i < kMaxDims; ++i) {
      std::vector<int> seen(static_cast<size_t>(problem.in[i]));
      int64_t taps = problem.filter[i];
      for (const WalkPhase& phase : view->dim[i].phases) {
        EXPECT_LE(phase.taps, taps) << text << ": longest first";
        taps = phase.taps;
        for (int64_t j = 0; j < phase.size; ++j) ++seen[static_cast<size_t>(phase.out + j * view->dim[i].out_step)];
      }
      EXPECT_THAT(seen, testing::Each(1)) << text;
    }
  }
}

TEST(Divider, DividesEveryNumberBelowTwoToThe31) {
  Random random(3);
  for (const i64 by : {1, 2, 3, 5, 7, 64, 147, 1000, 65535, 65537, 1 << 30, 0x7fffffff}) {
    const Divider divider = make_divider(by);
    for (const u32 n : {0u, 1u, static_cast<u32>(by) - 1, static_cast<u32>(by), 0x7ffffffeu, 0x7fffffffu})
      EXPECT_EQ(quotient(n, divider), n / by) << n << " / " << by;
    for (int i = 0; i < 1000; ++i) {
      const u32 n = static_cast<u32>(random.next() & 0x7fffffff);
      ASSERT_EQ(quotient(n, divider), n / by) << n << " / " << by;
    }
  }
}

}  // namespace
}  // namespace wt
