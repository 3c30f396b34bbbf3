// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_fp32_slow_test.cc - fp32 by three tf32 products, and types whose filter is turned round,
// on the simulator.
#include "dispatch/choice/candidates.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

// The accepting kernels of pipeline tma, best guess first.
std::vector<RankedCandidate> tma_kernels(const ConvProblem& problem) {
  auto kernels = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
  std::erase_if(kernels,
                [](const RankedCandidate& c) { return !c.accepts() || c.config.gemm.pipeline != Pipeline::kTma; });
  return kernels;
}

// Random numbers against the bound of fp32: one tf32 product alone errs a thousand times as much.
TEST(TmaFp32, KeepsTheAccuracyOfFp32) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text : {"fwd fp32 n1 c36 k40 i9x17 f3x3 p1 +bias", "bwd_data fp32 n1 c72 k68 i9x7 f3x3 s2 p1",
                           "bwd_weight fp32 n2 c72 k68 i9x7 f3x3 s2 p1"}) {
    const ConvProblem problem = problem_of(text);
    auto kernels = tma_kernels(problem);
    std::erase_if(kernels, [](const RankedCandidate& c) { return c.config.gemm.tile.m != 128; });
    ASSERT_FALSE(kernels.empty()) << text;
    auto plan = make_kernel_plan(*device, problem, kernels.front().config, "tested");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    auto tensors = TrialTensors::make(*device, problem, false, 3);
    ASSERT_TRUE(tensors.ok()) << tensors.status().message();
    TrialOptions options;
    options.seed = 3;
    options.time = false;
    const TrialResult result = run_trial(**tensors, **plan, options);
    EXPECT_TRUE(result.verified) << text << ": " << result.status.message();
  }
}

TEST(TmaTurned, FiltersAreExact) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text :
       {"bwd_data tf32 n2 c36 k40 i9x7 f3x3 p1", "bwd_data fp32 n1 g2 c72 k128 i9x7 f3x3 s2 p1 +bias",
        "bwd_data e4m3*e5m2>bf16 n1 c48 k64 i5x6 f3x3 p1", "fwd fp32 n1 g2 c64 k72 i4x5x6 f3x3x1 p1x1x0"}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = tma_kernels(problem);
    ASSERT_FALSE(kernels.empty()) << text;
    expect_exact(*device, problem, kernels.front().config);
  }
}

// Tiles of weight gradients, turned round in shared memory: all at once, in parts, cut by stream-K; tails of channels.
TEST(TmaTurned, TilesAreExact) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text :
       {"bwd_weight tf32 n2 c72 k68 i9x17 f3x3 p1", "bwd_weight fp32 n1 g2 c72 k128 i9x7 f3x3 s2 p1"}) {
    const ConvProblem problem = problem_of(text);
    for (const SplitK split : {SplitK::kNone, SplitK::kWorkspace}) {
      for (const StreamK stream : {StreamK::kOff, StreamK::kLinear}) {
        if (split != SplitK::kNone && stream != StreamK::kOff) continue;
        auto kernels = tma_kernels(problem);
        std::erase_if(kernels, [&](const RankedCandidate& c) {
          return c.config.gemm.split_k != split || c.config.gemm.stream_k != stream;
        });
        ASSERT_FALSE(kernels.empty()) << text;
        expect_exact(*device, problem, kernels.front().config);
      }
    }
  }
}

// Large layers of fp32 go there; before, they had no matrix instruction.
TEST(TmaFp32, IsChosenForLargeLayers) {
  for (const char* text : {"fwd fp32 n16 c256 k256 i50x50 f3x3 p1", "bwd_data fp32 n16 c256 k256 i50x50 f3x3 p1",
                           "bwd_weight fp32 n16 c256 k256 i50x50 f3x3 p1"}) {
    const auto ranked = rank_candidates(problem_of(text), Target::kSm90a, {}, Breadth::kAll);
    ASSERT_FALSE(ranked.empty());
    EXPECT_EQ(ranked.front().config.gemm.pipeline, Pipeline::kTma) << text;
  }
}

}  // namespace
}  // namespace wt
