// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_residual_slow_test.cc - Hopper kernels that copy their residual while they multiply, on
// the simulator.
#include "dispatch/choice/candidates.h"
#include "kernels/tma/device/layout.h"
#include "tests/dispatch/kernel_forms.h"

namespace wt {
namespace {

constexpr KernelForm kForms[] = {
    {"fwd bf16 n1 c64 k72 i13x11 f1x1 +residual", "tails of rows and columns, a consumer past the last row",
     [](const KernelConfig& c) { return c.gemm.tile.m >= 256 && !c.gemm.ping_pong; }},
    {"fwd fp16 n2 c72 k136 i9x10 f3x3 p1 +alpha=2+scale+bias+residual+relu+amax", "every step, consumers in turns",
     [](const KernelConfig& c) { return c.gemm.ping_pong; }},
    {"fwd bf16 n9 c16 k96 i70x71 f1x1 +bias+residual", "several tiles a consumer, in turns, half a box of columns",
     [](const KernelConfig& c) { return c.gemm.ping_pong && c.gemm.tile.n == 96; }},
    {"fwd bf16 n2 c16 k40 i9x10 f1x1 +residual", "an odd block of columns",
     [](const KernelConfig& c) { return c.gemm.tile.n == 40; }},
    {"fwd bf16 n9 c16 k64 i70x71 f1x1 +residual", "several tiles a block, cooperative",
     [](const KernelConfig& c) { return !c.gemm.ping_pong && c.gemm.tile.m == 128 && c.gemm.tile.n == 64; }},
    {"bwd_data bf16 n2 c200 k64 i9x10 f3x3 p1 +residual", "a block past the edge",
     [](const KernelConfig& c) { return c.gemm.cluster_n > 1; }},
    {"bwd_data bf16 n2 g2 c128 k64 i9x7 f3x3 p1 +residual", "groups", [](const KernelConfig&) { return true; }},
};

// Tiles of pixels by output channels.
constexpr KernelForm kCrosswiseForms[] = {
    {"fwd bf16 n1 c64 k72 i13x11 f1x1 +residual", "tails of pixels and channels, an odd block of pixels",
     [](const KernelConfig& c) { return c.gemm.tile.m == 136 && !c.gemm.ping_pong; }},
    {"fwd fp16 n2 c72 k136 i9x10 f3x3 p1 +alpha=2+scale+bias+residual+relu+amax", "every step, consumers in turns",
     [](const KernelConfig& c) { return c.gemm.ping_pong; }},
    {"fwd bf16 n9 c16 k128 i50x51 f1x1 +bias+residual", "several tiles a consumer, in turns",
     [](const KernelConfig& c) { return c.gemm.ping_pong && c.gemm.tile.m == 80; }},
    {"fwd bf16 n5 c16 k256 i50x51 f1x1 +residual+add=2", "several tiles a block, two fragments a consumer",
     [](const KernelConfig& c) { return c.gemm.tile.n == 256; }},
    {"bwd_data bf16 n2 c40 k64 i9x10 f3x3 p1 +residual", "a block and a consumer past the edge",
     [](const KernelConfig& c) { return c.gemm.cluster_n > 1; }},
    {"bwd_data bf16 n2 c200 k64 i9x10 f3x3 p1 +residual", "blocks that share their filters",
     [](const KernelConfig& c) { return c.gemm.cluster_m > 1; }},
    {"bwd_data fp16 n2 g2 c256 k128 i9x7 f3x3 p1 +residual", "groups", [](const KernelConfig&) { return true; }},
};

bool copies(const KernelConfig& c) { return c.gemm.pipeline == Pipeline::kTma && tma_layout::copies_residual(c); }

TEST(TmaResidual, IsExact) {
  expect_forms_exact(
      kForms, [](const KernelConfig& c) { return copies(c) && !tma_layout::crosswise(c); },
      [](ConvProblem& problem) { problem.epilogue.beta = -3; });
}

TEST(TmaResidual, IsExactCrosswise) {
  expect_forms_exact(
      kCrosswiseForms, [](const KernelConfig& c) { return copies(c) && tma_layout::crosswise(c); },
      [](ConvProblem& problem) { problem.epilogue.beta = -3; });
}

}  // namespace
}  // namespace wt
