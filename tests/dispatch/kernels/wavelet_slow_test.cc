// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/wavelet_slow_test.cc - gathering kernels on the edges of what they accept, on the simulator.
#include <gmock/gmock.h>

#include <set>
#include <tuple>

#include "config/fields.h"
#include "dispatch/choice/candidates.h"
#include "dispatch/plan/kernel.h"
#include "dispatch/trial/trial.h"

namespace wt {
namespace {

class WaveletEdges : public testing::TestWithParam<const char*> {};

// Among the accepting kernels, the best guess of each pair of loaders, vectors and split; of these the first and a
// quarter of the others, which differs from problem to problem.
std::vector<KernelConfig> kernels_of(const ConvProblem& problem) {
  const auto turn = static_cast<size_t>(problem.c + problem.k + problem.in[2]) % 4;
  using Kind = std::tuple<Loader, int, Loader, int, SplitK, bool>;
  std::set<Kind> seen;
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
    const GemmConfig& gemm = c.config.gemm;
    if (!c.accepts() || c.config.family() != Family::kGemm || gemm.pipeline != Pipeline::kWavelet) continue;
    const Kind kind(gemm.loader_a, gemm.vector_a, gemm.loader_b, gemm.vector_b, gemm.split_k, c.config.finite_only);
    if (seen.insert(kind).second && (seen.size() == 1 || seen.size() % 4 == turn)) kernels.push_back(c.config);
  }
  return kernels;
}

TEST_P(WaveletEdges, AreExact) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const auto problem = parse_problem(GetParam());
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  const std::vector<KernelConfig> kernels = kernels_of(*problem);
  ASSERT_FALSE(kernels.empty());
  auto tensors = TrialTensors::make(*device, *problem, true, 7);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  TrialOptions options;
  options.exact = true;
  options.seed = 7;
  options.time = false;
  for (const KernelConfig& config : kernels) {
    auto plan = make_kernel_plan(*device, *problem, config, "tested");
    ASSERT_TRUE(plan.ok()) << plan.status().message();
    const TrialResult result = run_trial(**tensors, **plan, options);
    EXPECT_TRUE(result.verified) << name_of(config) << ": " << result.status.message();
  }
}

INSTANTIATE_TEST_SUITE_P(Forward, WaveletEdges,
                         testing::Values("fwd bf16 n2 c1 k1 i7x7 f3x3 p1", "fwd bf16 n2 c3 k50 i28x28 f14x14 s14",
                                         "fwd bf16 n2 c3 k8 i13x12 f3x3 s2x2 p1 +scale+bias+residual=0.5+silu",
                                         "fwd bf16 n1 c17 k36 i9x9 f3x3 p4", "fwd bf16 n3 c33 k48 g3 i9x9 f3x3 p1",
                                         "fwd bf16 n1 c4 k40 i3x3 f7x7 p3", "fwd bf16 n2 c20 k7 i100 f5 d3 p3:0 +amax",
                                         "fwd fp16 n1 c6 k9 i5x6x4 f3x2x3 s2x1x1 p1",
                                         "fwd bf16>fp32 n1 c12 k10 i9x9 f3x3 s3 d2 p2", "fwd bf16 n70 c2 k3 i1x1 f1x1",
                                         "fwd tf32 n1 c6 k9 i9x9 f3x3 p1", "fwd tf32 n1 c3 k8 i8x8 f3x3 s2 p1",
                                         "fwd e4m3>bf16 n1 c12 k10 i9x9 f3x3 s2 p1",
                                         "fwd e5m2*e4m3>fp16 n1 c24 k8 i7x7 f3x3",
                                         "fwd bf16 n1 c8 k8 i60x60 f3x3 p20:0x20:0 d19"));
INSTANTIATE_TEST_SUITE_P(
    BackwardData, WaveletEdges,
    testing::Values("bwd_data bf16 n2 c24 k36 i9x9 f3x3 p1", "bwd_data bf16 n2 c3 k64 i15x15 f7x7 s2 p3",
                    "bwd_data bf16 n1 c3 k40 i28x28 f14x14 s14", "bwd_data bf16 n1 c5 k3 i12x12 f9x9 p4",
                    "bwd_data bf16 n1 c64 k64 i17x17 f2x2 s4", "bwd_data bf16 n1 c12 k20 i13x13 f3x3 s3 p2 d2",
                    "bwd_data fp16 n1 c8 k12 i6x9x9 f3x3x3 s2 p1", "bwd_data bf16 n2 c30 k42 g3 i11 f4 s3 p1",
                    "bwd_data bf16 n1 c3 k40 i24x24 f8x8 s8 +bias+relu"));
INSTANTIATE_TEST_SUITE_P(
    BackwardWeight, WaveletEdges,
    testing::Values("bwd_weight bf16 n2 c3 k24 i16x16 f7x7 s2 p3", "bwd_weight bf16 n2 c24 k36 i9x9 f3x3 p1",
                    "bwd_weight bf16 n1 c64 k3 i20x20 f3x3 p1 +residual=0.5",
                    "bwd_weight bf16 n4 c1 k32 i12x12 f5x5 p2", "bwd_weight bf16 n2 c20 k50 i12x12 f5x5",
                    "bwd_weight bf16 n2 c3 k64 i28x28 f14x14 s14", "bwd_weight bf16 n2 c12 k18 g3 i9x9 f3x3 s2 p1",
                    "bwd_weight fp16>fp32 n1 c6 k8 i5x6x4 f3x2x3 p1 d1x1x2", "bwd_weight bf16 n0 c4 k8 i9x9 f3x3",
                    "bwd_weight bf16 n3 c8 k16 i50 f5 d7 p13 +amax"));

}  // namespace
}  // namespace wt
