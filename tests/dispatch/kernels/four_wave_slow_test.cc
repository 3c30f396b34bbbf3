// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/four_wave_slow_test.cc - the four-wave kernels over edge problems, every loader and tile,
// exactly.
#include <iterator>
#include <map>

#include "dispatch/choice/candidates.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

struct Edge {
  Target target;
  const char* problem;
};

// Filters, strides, dilations, padding on one side, channels that fit no vector, groups, one to three dimensions, tiles
// that hang over in every direction, sums shorter and longer than a k-block, every step of the epilogue.
constexpr Edge kEdges[] = {
    {Target::kGfx942, "fwd bf16 n1 c1 k1 i1x1 f1x1"},
    {Target::kGfx942, "fwd bf16 n3 c32 k33 i7x5 f3x3 s2x3 p2x1 d2x1 +scale+bias"},
    {Target::kGfx942, "fwd bf16 n1 c7 k20 i11x6 f4x3 p1:2x0:1 s3x2"},
    {Target::kGfx942, "fwd bf16 n1 c128 k66 i4x3x5 f3x2x1 p1x0x0 d1x2x1 +residual+relu"},
    {Target::kGfx942, "fwd fp16 n2 c12 k24 g3 i33 f5 s2 p3 d3"},
    {Target::kGfx942, "fwd fp16 n2 c64 k36 g2 i8x9 f3x3 p1 +gelu"},
    {Target::kGfx942, "fwd e4m3*e4m3>bf16 n2 c10 k24 i6x7 f3x3 p1"},
    {Target::kGfx942, "fwd e4m3*e4m3>bf16 n1 c192 k40 i7x6 f3x3 s2 p1 +bias"},
    {Target::kGfx950, "fwd e4m3*e4m3>bf16 n1 c64 k40 i7x6 f3x3 p1"},
    {Target::kGfx950, "fwd bf16 n1 c96 k40 i7x6 f3x3 p1"},
    {Target::kGfx90a, "fwd bf16 n1 c20 k136 i13x11 f2x2 s2"},
    {Target::kGfx90a, "fwd fp16 n1 c64 k300 i13x11 f1x1 +amax"},
    // Backward data: taps by residue, residues without taps or with one pixel, padding beyond the filter.
    {Target::kGfx942, "bwd_data bf16 n1 c1 k1 i1x1 f1x1"},
    {Target::kGfx942, "bwd_data bf16 n3 c33 k32 i7x5 f3x3 s2x3 p2x1 d2x1 +scale+bias"},
    {Target::kGfx942, "bwd_data bf16 n1 c20 k7 i11x6 f4x3 p1:2x0:1 s3x2"},
    {Target::kGfx942, "bwd_data bf16 n1 c66 k128 i4x3x5 f3x2x1 p1x0x0 d1x2x1 s2x1x2 +residual"},
    {Target::kGfx942, "bwd_data fp16 n2 c24 k12 g3 i33 f5 s2 p3 d3"},
    {Target::kGfx942, "bwd_data fp16 n2 c36 k64 g2 i8x9 f3x3 s4x4 p1"},
    {Target::kGfx942, "bwd_data e4m3*e4m3>bf16 n1 c40 k192 i7x6 f1x1 s2"},
    {Target::kGfx950, "bwd_data e4m3*e4m3>fp16 n1 c40 k64 i7x6 f3x3 p1"},
    {Target::kGfx950, "bwd_data bf16 n1 c40 k96 i7x6 f3x3 s2 p1"},
    {Target::kGfx90a, "bwd_data bf16 n1 c136 k20 i13x11 f2x2 s2"},
    {Target::kGfx90a, "bwd_data fp16 n1 c300 k64 i13x11 f1x1 +amax"},
};

class FourWaveEdge : public testing::TestWithParam<size_t> {};

TEST_P(FourWaveEdge, IsExact) {
  const Edge& edge = kEdges[GetParam()];
  const ConvProblem problem = problem_of(edge.problem);
  const auto device = open_device(to_text(TargetName{edge.target, true}));
  ASSERT_TRUE(device.ok()) << device.status().message();
  // One tile for each loader that accepts; the edges take turns, so that every loader meets every tile.
  std::map<Loader, std::map<std::pair<int, int>, KernelConfig>> kernels;
  for (const RankedCandidate& c : rank_candidates(problem, edge.target, {}, Breadth::kAll))
    if (c.accepts() && c.config.family() == Family::kGemm && c.config.gemm.pipeline == Pipeline::kFourWave)
      kernels[c.config.gemm.loader_a].try_emplace({c.config.gemm.tile.m, c.config.gemm.tile.n}, c.config);
  ASSERT_FALSE(kernels.empty());
  size_t turn = GetParam();
  for (const auto& [loader, tiles] : kernels) {
    ASSERT_GE(tiles.size(), 3u);
    expect_exact(*device, problem,
                 std::next(tiles.begin(), static_cast<std::ptrdiff_t>(turn++ % tiles.size()))->second);
  }
}

// The weight gradient: rows, planes and images that end inside a thread's four pixels, images smaller than a k-block,
// strides, dilation and padding, channels beyond a tile, groups, sums of one part and of several, whole sums with an
// epilogue.
constexpr Edge kWeightEdges[] = {
    {Target::kGfx942, "bwd_weight bf16 n1 c8 k8 i1x1 f1x1"},
    {Target::kGfx942, "bwd_weight bf16 n9 c16 k40 i3x3 f3x3 p1"},
    {Target::kGfx942, "bwd_weight bf16 n3 c24 k136 i7x5 f3x3 s2x3 p2x1 d2x1"},
    {Target::kGfx942, "bwd_weight fp16 n2 c48 k72 g3 i19x7 f2x3 p1:2x0:1"},
    {Target::kGfx942, "bwd_weight bf16>fp32 n2 c16 k72 i4x5x6 f3x2x1 p1x0x0 s1x2x1"},
    {Target::kGfx942, "bwd_weight fp16 n2 c24 k24 i133 f5 s2 p3 d3 +scale+bias"},
    {Target::kGfx942, "bwd_weight bf16 n0 c8 k8 i4x4 f3x3 p1"},
    {Target::kGfx950, "bwd_weight bf16 n2 c40 k72 i9x9 f3x3 p1"},
    {Target::kGfx950, "bwd_weight fp16 n1 c136 k64 i11x13 f1x1 s2 +amax"},
    {Target::kGfx90a, "bwd_weight bf16 n2 c40 k72 i9x9 f3x3 p1 +residual"},
};

class FourWaveWeightEdge : public testing::TestWithParam<size_t> {};

TEST_P(FourWaveWeightEdge, IsExact) {
  const Edge& edge = kWeightEdges[GetParam()];
  const ConvProblem problem = problem_of(edge.problem);
  const auto device = open_device(to_text(TargetName{edge.target, true}));
  ASSERT_TRUE(device.ok()) << device.status().message();
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& c : rank_candidates(problem, edge.target, {}, Breadth::kAll))
    if (c.accepts() && c.config.kind == Kind::kFourWaveWeight) kernels.push_back(c.config);
  ASSERT_GE(kernels.size(), 6u);
  // Each edge with two of them in turns, divided and whole.
  for (size_t i = 0; i < 2; ++i) {
    const KernelConfig& config = kernels[(GetParam() + 3 * i) % kernels.size()];
    expect_exact(*device, problem, config,
                 config.gemm.split_k == SplitK::kWorkspace ? static_cast<int>(1 + GetParam() % 3) : 0);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FourWaveWeightEdge, testing::Range(size_t{0}, std::size(kWeightEdges)));

INSTANTIATE_TEST_SUITE_P(All, FourWaveEdge, testing::Range(size_t{0}, std::size(kEdges)));

}  // namespace
}  // namespace wt
