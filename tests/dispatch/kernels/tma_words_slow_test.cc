// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_words_slow_test.cc - Hopper kernels that stage 32-bit outputs in shared memory, on the
// simulator.
#include "kernels/tma/device/layout.h"
#include "tests/dispatch/kernel_forms.h"

namespace wt {
namespace {

bool stages(const KernelConfig& c) {
  return c.kind == Kind::kTma && c.gemm.staging != Staging::kDirect && tma_layout::stages_words(c);
}
bool bulk(const KernelConfig& c) { return c.gemm.staging == Staging::kTmaStore; }
bool in_turns(const KernelConfig& c) { return tma_layout::stages_in_turns(c); }

constexpr KernelForm kForms[] = {
    {"fwd tf32 n2 c40 k72 i13x11 f3x3 p1", "tails of rows and columns, all boxes at once",
     [](const KernelConfig& c) { return bulk(c) && !in_turns(c) && c.gemm.tile.n == 128; }},
    {"fwd tf32 n2 c40 k44 i13x11 f3x3 p1", "a narrow box",
     [](const KernelConfig& c) { return bulk(c) && c.gemm.tile.n == 40; }},
    {"fwd tf32 n2 c8 k268 i40x51 f1x1", "several tiles a block, two boxes in turns",
     [](const KernelConfig& c) { return bulk(c) && in_turns(c) && c.gemm.tile.n == 256; }},
    {"fwd tf32 n2 c8 k160 i30x31 f1x1 +bias", "an odd number of boxes in turns, and several tiles",
     [](const KernelConfig& c) { return bulk(c) && in_turns(c) && c.gemm.tile.n == 160; }},
    {"fwd fp32 n2 c8 k132 i30x31 f1x1 +scale+residual+amax", "consumers in turns, every step",
     [](const KernelConfig& c) { return bulk(c) && in_turns(c) && c.gemm.ping_pong; }},
    {"fwd tf32 n2 c36 k68 i9x10 f1x1 +bias+residual+relu", "a residual where results are staged",
     [](const KernelConfig& c) { return tma_layout::copies_residual(c) && !tma_layout::crosswise(c); }},
    {"bwd_data tf32 n2 c68 k44 i13x11 f3x3 s2 p1", "phases, rows copied by vectors",
     [](const KernelConfig& c) { return !bulk(c) && !in_turns(c); }},
    {"bwd_data fp32 n1 c260 k36 i9x7 f3x3 s2 p1 +bias", "phases, two boxes at a time",
     [](const KernelConfig& c) { return !bulk(c) && in_turns(c) && c.gemm.tile.n >= 128; }},
    {"fwd bf16>fp32 n1 c64 k132 i9x9 f3x3 p1", "16-bit operands",
     [](const KernelConfig& c) { return bulk(c) && c.gemm.tile.n >= 64; }},
    {"fwd tf32 n1 c64 k72 i13x11 f1x1 +residual", "crosswise: tails of pixels and channels, a copied residual",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.tile.m == 136; }},
    {"bwd_data tf32 n2 c72 k8 i30x31 f1x1 +bias", "crosswise in turns, several tiles, a filter turned round",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.ping_pong; }},
};

// Few channels: a turned filter's rows need be whole vectors, not dx's channels; rows that are not are copied.
constexpr KernelForm kFewForms[] = {
    {"bwd_data tf32 n1 c3 k64 i15x14 f7x7 s2 p3", "three channels of dx",
     [](const KernelConfig& c) { return c.kind == Kind::kTma && c.gemm.split_k == SplitK::kNone; }},
    {"bwd_data fp32 n1 c7 k36 i9x10 f3x3 p1 +bias", "an odd number, in parts",
     [](const KernelConfig& c) { return c.kind == Kind::kTma && c.gemm.split_k == SplitK::kWorkspace; }},
    {"bwd_data tf32 n1 c40 k18 i9x10 f3x3 p1", "rows of dy copied, and a turned filter whose rows are longer",
     [](const KernelConfig& c) { return c.kind == Kind::kTma && c.gemm.aligned_copy; }},
    {"bwd_data fp32 n1 c7 k3 i9x10 f3x3 s2 p1", "the same of three numbers",
     [](const KernelConfig& c) { return c.kind == Kind::kTma && c.gemm.aligned_copy && c.gemm.swizzle_a == 32; }},
    {"bwd_weight tf32 n1 c40 k3 i14x15 f3x3 p1", "rows of dy copied",
     [](const KernelConfig& c) { return c.kind == Kind::kTmaWeight && c.gemm.aligned_copy; }},
    {"bwd_weight fp32 n2 c3 k34 i10x11 f3x3 s2 p1", "rows of both copied",
     [](const KernelConfig& c) { return c.kind == Kind::kTmaWeight && c.gemm.aligned_copy; }},
    {"fwd fp32 n2 c3 k36 i14x15 f3x3 s2 p1", "narrow boxes of copied rows, stored in bulk",
     [](const KernelConfig& c) { return c.gemm.aligned_copy && c.gemm.swizzle_a == 32 && bulk(c); }},
    {"fwd tf32 n2 c7 k33 i9x10 f3x3 p1 +bias", "wide ones, stored by numbers",
     [](const KernelConfig& c) { return c.gemm.aligned_copy && c.gemm.swizzle_a == 128 && !bulk(c); }},
};

TEST(TmaWords, OfFewChannelsAreExact) {
  expect_forms_exact(kFewForms, [](const KernelConfig& c) { return c.gemm.pipeline == Pipeline::kTma; });
}

TEST(TmaWords, AreExact) {
  expect_forms_exact(kForms, stages, [](ConvProblem& problem) { problem.epilogue.beta = -3; });
}

}  // namespace
}  // namespace wt
