// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/portable_slow_test.cc - every portable pipeline in every direction on each kind of matrix
// unit, and a list of edges.
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/portable_kernels.h"
#include "tests/dispatch/spills.h"

namespace wt {
namespace {

class PortableSlow : public testing::TestWithParam<Target> {
 protected:
  void SetUp() override {
    auto device = open_device("sim:" + std::string(text_of(GetParam())));
    ASSERT_TRUE(device.ok()) << device.status().message();
    device_ = *device;
  }
  std::shared_ptr<Device> device_;
};

TEST_P(PortableSlow, EveryPipelineInEveryDirection) {
  for (const char* text : {"fwd bf16 n2 c48 k80 g2 i9x7 f3x3 s2 p1 +bias", "bwd_data bf16 n1 c48 k64 i9x8 f3x3 s2 p1",
                           "bwd_weight bf16 n2 c16 k80 i9x7 f3x3 s2 p1"}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = one_of_each_loop(problem, GetParam());
    ASSERT_GE(kernels.size(), info_of(GetParam()).async_copy ? 11u : 8u) << text;
    for (const KernelConfig& config : kernels) expect_exact(device_, problem, config);
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, PortableSlow, testing::Values(Target::kSm80, Target::kGfx942, Target::kGfx1201),
                         [](const auto& param) { return std::string(text_of(param.param)); });

// Odd channels, one to three dimensions, residues that no tap reaches, dilation, other types, epilogues. The kernel is
// the one that would be chosen.
class PortableEdges : public PortableSlow {};

TEST_P(PortableEdges, ChosenKernelsAreExact) {
  for (const char* text :
       {"fwd bf16 n1 c5 k7 i5x4x6 f3x2x1 d2x1x1 p1x0x0", "fwd fp32 n1 c20 k33 i11x9 f3x3 p1 +bias+relu",
        "fwd fp16 n3 c64 k40 i33 f5 s2 p2 d2 +residual", "bwd_data bf16 n2 c17 k9 g1 i9x9 f2x2 s3 p0",
        "bwd_data fp32 n1 c12 k8 i7x9 f3x3 s2 p2 d3", "bwd_weight fp32 n1 c12 k8 i7x9 f3x3 s2 p1",
        "bwd_weight bf16 n1 c9 k6 g3 i4x5x6 f3x3x3 p1", "bwd_weight fp16 n4 c72 k40 i20x20 f1x1 +alpha=0.5+residual"}) {
    const ConvProblem problem = problem_of(text);
    const auto kernels = portable_kernels(problem, GetParam());
    ASSERT_FALSE(kernels.empty()) << text;
    expect_exact(device_, problem, kernels.front());
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, PortableEdges, testing::Values(Target::kSm80, Target::kGfx90a, Target::kGfx1100),
                         [](const auto& param) { return std::string(text_of(param.param)); });

// Sums that blocks share, added in order and in pairs, of all tiles and of those that whole rounds leave.
TEST(PortableStream, PartsAreAddedExactly) {
  const auto device = open_device("sim:sm_80");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const ConvProblem problem = problem_of("bwd_weight bf16 n3 c40 k72 i13x11 f3x3 p1 +alpha=0.5");
  int tested = 0;
  for (const KernelConfig& config : portable_kernels(problem, Target::kSm80)) {
    if (!portable_layout::streams(config) || config.gemm.tile != Extent3{64, 64, 32} ||
        config.gemm.pipeline != Pipeline::kCompAsync)
      continue;
    expect_exact(*device, problem, config);
    ++tested;
  }
  EXPECT_EQ(tested, 4);
}

// alpha is applied once, wherever the sum ends: in the kernel, after its parts, after streamed parts.
TEST_P(PortableSlow, ScaledWeightGradientsAreExact) {
  const ConvProblem problem = problem_of("bwd_weight bf16 n3 c16 k24 i13x11 f3x3 p1 +alpha=-0.25");
  const auto expect_best = [&](auto form) {
    expect_exact(device_, problem, best_with(problem, GetParam(), [&](const KernelConfig& c) {
                   return c.gemm.tile.m == 64 && c.gemm.groups_per_tile == 1 && form(c);
                 }));
  };
  expect_best([](const KernelConfig& c) { return !is_divided(c) && !portable_layout::streams(c); });
  expect_best([](const KernelConfig& c) { return is_divided(c); });
  expect_best([](const KernelConfig& c) { return c.gemm.stream_k == StreamK::kTree; });
}

// The largest tiles of the loops with the most in registers, by the real compilers. Rule set tiny has the others.
std::vector<KernelConfig> largest(const char* text, Target target, std::initializer_list<Pipeline> pipelines) {
  auto kernels = one_of_each_loop(problem_of(text), target, true);
  std::erase_if(
      kernels, [&](const KernelConfig& c) { return std::ranges::find(pipelines, c.gemm.pipeline) == pipelines.end(); });
  EXPECT_GE(kernels.size(), pipelines.size()) << text;
  return kernels;
}

void append(std::vector<KernelConfig>& all, const std::vector<KernelConfig>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

// Merged groups stored as they are, and explicit GEMM, with their largest tiles.
std::vector<KernelConfig> forms(Target target) {
  return {best_with(problem_of("bwd_weight bf16 n8 c64 k64 g16 i28x28 f3x3 p1"), target,
                    [](const KernelConfig& c) {
                      return c.gemm.groups_per_tile > 1 && c.gemm.tile.m == 128 && !is_divided(c);
                    }),
          best_with(problem_of("bwd_weight bf16 n8 c256 k256 i28x28 f1x1"), target,
                    [](const KernelConfig& c) { return c.gemm.explicit_gemm && c.gemm.tile.m == 128; })};
}

#if WT_HAVE_NVRTC
TEST(PortableSpills, NoneOnSm80) {
  std::vector<KernelConfig> kernels;
  append(kernels, largest("fwd bf16 n8 c256 k256 i50x50 f3x3 p1", Target::kSm80, {Pipeline::kMem, Pipeline::kWavelet}));
  append(kernels, largest("bwd_data bf16 n8 c256 k256 i50x50 f3x3 s2 p1", Target::kSm80, {Pipeline::kCompV3}));
  append(kernels, largest("bwd_weight bf16 n8 c256 k256 i50x50 f3x3 p1", Target::kSm80, {Pipeline::kCompV3}));
  append(kernels, largest("fwd fp32 n8 c256 k256 i50x50 f3x3 p1", Target::kSm80, {Pipeline::kCompAsync}));
  append(kernels, forms(Target::kSm80));
  expect_no_spills(kernels);
}
#endif

#if WT_HAVE_CLANG
TEST(PortableSpills, NoneOnAmd) {
  std::vector<KernelConfig> kernels;
  for (const Target target : {Target::kGfx90a, Target::kGfx1100}) {
    append(kernels, largest("fwd bf16 n8 c256 k256 i50x50 f3x3 p1", target, {Pipeline::kCompV4}));
    append(kernels, largest("bwd_weight bf16 n8 c256 k256 i50x50 f3x3 p1", target, {Pipeline::kCompV4}));
  }
  append(kernels, forms(Target::kGfx942));
  expect_no_spills(kernels, compile::Backend::kClang);
}
#endif

}  // namespace
}  // namespace wt
