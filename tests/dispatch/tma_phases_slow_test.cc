// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/tma_phases_slow_test.cc - strided images on the simulated Hopper: read as the one phase that all taps
// share, by every kernel, and phase after phase by those that do so.
#include "dispatch/bind_tma.h"
#include "kernel/gemm/tma/layout.h"
#include "tests/dispatch/kernel_forms.h"

namespace wt {
namespace {

bool any(const KernelConfig&) { return true; }
bool in_parts(const KernelConfig& c) { return c.gemm.split_k == SplitK::kWorkspace; }
bool over_cluster(const KernelConfig& c) { return c.gemm.split_k == SplitK::kCluster; }

constexpr KernelForm kPhases[] = {
    {"fwd bf16 n2 c72 k72 i9x11 f3x3 s2 p1 +bias+relu", "four phases of odd sizes", any},
    {"fwd bf16 n2 c64 k64 i8x10 f3x3 s2 p1:0x0:1", "asymmetric padding", any},
    {"fwd fp16 n1 c64 k64 i11x13 f5x5 s3 p2:4x1", "nine phases of stride 3", any},
    {"fwd bf16 n1 c64 k64 i10x17 f5x3 s4x3 p1 d2x1", "strides that share a divisor with the dilation", any},
    {"fwd bf16 n2 c64 k64 i11x9 f3x3 s2x1 p1", "a stride along h alone", any},
    {"fwd bf16 n2 c64 k64 i9x12 f3x3 s1x2 p1", "a stride along w alone", any},
    {"fwd bf16 n1 c64 k64 i2x3 f5x7 s2 p3", "a filter larger than the image", any},
    {"fwd bf16 n2 c64 k64 i1x1 f3x3 s2 p1", "one pixel, in one phase of four", any},
    {"fwd bf16 n2 c64 k64 i1x5 f2x1 s3x1 p2x0:1", "a phase without pixels", any},
    {"fwd bf16 n1 c128 k64 i9x9 f7x7 s2 p3", "twelve taps and more a phase", any},
    {"fwd bf16 n3 c72 k80 i21 f3 s2 p1", "one dimension", any},
    {"fwd bf16 n1 c64 k72 i5x6x7 f3x3x3 s2 p1", "eight phases of a cube", any},
    {"fwd bf16 n1 g2 c128 k128 i9x9 f3x3 s2 p1", "groups", any},
    {"fwd bf16 n1 g16 c128 k128 i9x10 f3x3 s2 p1", "groups merged",
     [](const KernelConfig& c) { return c.gemm.groups_per_tile == 8; }},
    {"fwd bf16 n1 c20 k48 i9x8 f3x3 s2 p1", "copies of whole rows",
     [](const KernelConfig& c) { return c.gemm.vector_a == 8; }},
    {"fwd bf16 n1 c64 k36 i9x11 f3x3 s2 p1 +bias", "rows stored by vectors",
     [](const KernelConfig& c) { return c.gemm.staging == Staging::kShared; }},
    {"fwd tf32 n1 c40 k24 i9x7 f3x3 s2 p1", "tf32", any},
    {"fwd fp32 n1 c40 k24 i9x7 f3x3 s2 p1", "fp32 by three products", any},
    {"fwd bf16 n2 c192 k72 i11x9 f3x3 s2 p1 +residual", "a residual that is copied",
     [](const KernelConfig& c) { return tma_layout::copies_residual(c); }},
    {"fwd bf16 n3 c72 k136 i19x21 f3x3 s2 p1", "crosswise",
     [](const KernelConfig& c) {
       return tma_layout::crosswise(c) && c.gemm.tile.m == 192 && tma_layout::sharing_blocks(c) == 1;
     }},
    {"fwd bf16 n3 c72 k264 i19x21 f3x3 s2 p1 +bias", "crosswise, two blocks share their pixels",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.multicast_a && c.gemm.tile.m == 192; }},
    {"fwd bf16 n5 c64 k128 i13x13 f3x3 s2 p1", "two blocks share the filter",
     [](const KernelConfig& c) {
       return c.gemm.multicast_b && c.gemm.tile.m == 128 && c.gemm.tile.n == 128 && !tma_layout::crosswise(c);
     }},
    {"fwd bf16 n9 c64 k136 i23x21 f3x3 s2 p1", "consumers in turns",
     [](const KernelConfig& c) { return c.gemm.ping_pong && c.gemm.tile.m == 64; }},
    {"fwd bf16 n9 c64 k136 i23x21 f3x3 s2 p1", "crosswise consumers in turns",
     [](const KernelConfig& c) { return c.gemm.ping_pong && tma_layout::crosswise(c) && c.gemm.tile.m == 96; }},
    {"fwd bf16 n2 c72 k40 i9x9 f3x3 s2 p1", "a narrow tile",
     [](const KernelConfig& c) { return c.gemm.tile.m == 64 && c.gemm.tile.n == 32; }},
};

bool is_phase_kernel(const KernelConfig& c) { return tma_layout::walks_phases(c); }

TEST(TmaPhases, AreExact) { expect_forms_exact(kPhases, is_phase_kernel); }

// Parts start anywhere: inside a phase, at its first box, and after phases of one tap.
TEST(TmaPhases, AreExactInParts) {
  const auto device = simulated_hopper();
  const ConvProblem problem = problem_of("fwd bf16 n2 c136 k72 i9x7 f3x3 s2 p1 +bias");
  for (const auto wanted : {in_parts, over_cluster}) {
    for (const int splits : {2, 5, 8}) {
      SCOPED_TRACE(splits);
      const Splits asked(splits);
      expect_exact(device, problem,
                   first_kernel(problem, [&](const KernelConfig& c) { return is_phase_kernel(c) && wanted(c); }));
    }
  }
}

TEST(TmaPhases, AreForTapsThatReadSeveral) {
  for (const char* text : {"fwd bf16 n1 c64 k64 i9x9 f3x3 p1", "fwd bf16 n1 c64 k64 i9x9 f1x1 s2",
                           "fwd bf16 n1 c64 k64 i9x9 f3x3 s2 d2 p2", "fwd bf16 n1 c64 k64 i19x19 f4x4 s4 p1"}) {
    const ConvProblem problem = problem_of(text);
    for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Candidates::kAll))
      EXPECT_FALSE(c.accepts() && is_phase_kernel(c.config)) << text << " by " << c.name;
  }
}

// Maps of kernels that are not told of phases.
TEST(TmaPhases, OfOneTapAreSeenByOneMap) {
  struct Case {
    const char* problem;
    std::array<uint64_t, 4> size, stride;
    uint64_t first;
    uint32_t step;
  };
  const Case cases[] = {
      {"fwd bf16 n2 c64 k64 i200x100 f1x1 s2", {64, 50, 100, 2}, {2, 256, 25600, 2560000}, 0, 1},
      {"fwd bf16 n2 c64 k64 i7x9 f1x1 s2 p1", {64, 4, 3, 2}, {2, 256, 2304, 8064}, 10 * 128, 1},
      {"fwd bf16 n2 c64 k64 i9x9 f3x3 s2 p1", {64, 9, 9, 2}, {2, 128, 1152, 10368}, 0, 2},
      {"bwd_weight bf16 n2 c64 k64 i7x9 f1x1 s2 p1", {64, 4, 3, 2}, {2, 256, 2304, 8064}, 10 * 128, 1},
  };
  for (const Case& expected : cases) {
    SCOPED_TRACE(expected.problem);
    const ConvProblem problem = problem_of(expected.problem);
    const KernelConfig config = first_kernel(problem, [](const KernelConfig& c) {
      return (c.gemm.loader_a == Loader::kTmaIm2col || c.gemm.loader_b == Loader::kTmaIm2col) && !is_phase_kernel(c) &&
             c.gemm.vector_a == 1;
    });
    const Binding binding = bind_tma(config, problem, simulated_hopper()->info());
    int maps = 0;
    for (const Launch& launch : binding.launches)
      for (const Launch::Map& map : launch.maps) {
        if (map.tensor != Tensor::kX) continue;
        ++maps;
        for (size_t i = 0; i < 4; ++i) {
          EXPECT_EQ(map.spec.size[i], expected.size[i]);
          EXPECT_EQ(map.spec.stride[i], expected.stride[i]);
        }
        EXPECT_EQ(map.byte_offset, expected.first);
        EXPECT_EQ(map.spec.element_stride[1], expected.step);
        EXPECT_EQ(map.spec.element_stride[2], expected.step);
      }
    EXPECT_EQ(maps, 1);
  }
}

constexpr KernelForm kOnePhase[] = {
    {"fwd bf16 n2 c72 k72 i9x10 f1x1 s2", "every other pixel", any},
    {"fwd bf16 n2 c72 k72 i9x10 f1x1 s2x3 p1:0x2:1", "padding, of another phase", any},
    {"fwd bf16 n2 c64 k64 i1x3 f1x1 s2 p1", "no pixel is read", any},
    {"fwd bf16 n2 c64 k64 i11x13 f3x3 s2 p2 d2", "taps a stride apart", any},
    {"fwd bf16 n2 c64 k64 i19x13 f3x1 s3x2 p6x0 d6x1", "taps two strides apart, and one", any},
    {"fwd bf16 n1 c64 k64 i20x23 f1x3 s9x2 p0x1", "a step that copies could not take, beside one that they take", any},
    {"fwd bf16 n2 c64 k40 i19x13 f3x3 s2 p12 d12", "rectangles that see the same taps",
     [](const KernelConfig& c) { return tma_layout::divides_by_taps(c); }},
    {"fwd bf16 n2 c72 k72 i21 f1 s2", "one dimension", any},
    {"fwd bf16 n1 c64 k72 i5x6x7 f1x3x1 s2 p0x1x0", "one dimension of three is stepped over", any},
    {"fwd bf16 n1 c20 k48 i9x8 f1x1 s2 p1", "copies of whole rows",
     [](const KernelConfig& c) { return c.gemm.vector_a == 8; }},
    {"bwd_weight bf16 n2 c72 k72 i9x10 f1x1 s2", "gradient, every other pixel", any},
    {"bwd_weight bf16 n2 c72 k72 i9x10 f1x3 s2x3 p1:0x2:1", "gradient, padding of another phase", any},
    {"bwd_weight bf16 n2 c64 k64 i1x3 f1x1 s2 p1", "gradient, no pixel is read", any},
    {"bwd_weight bf16 n2 c64 k64 i11x13 f3x3 s2 p2 d2", "gradient, taps a stride apart", any},
    {"bwd_weight bf16 n2 c20 k40 i9x9 f1x1 s2 p1", "gradient, copies of whole rows",
     [](const KernelConfig& c) { return c.gemm.vector_a == 8; }},
};

TEST(TmaPhases, ThatAllTapsShareAreExact) {
  expect_forms_exact(kOnePhase, [](const KernelConfig& c) {
    return c.gemm.pipeline == Pipeline::kTma && !is_phase_kernel(c) &&
           (c.gemm.loader_a == Loader::kTmaIm2col || c.gemm.loader_b == Loader::kTmaIm2col);
  });
}

}  // namespace
}  // namespace wt
