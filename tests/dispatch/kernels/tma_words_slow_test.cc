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
    {"fwd tf32 n2 c8 k160 i45x46 f1x1 +bias", "an odd number of boxes in turns, and several tiles",
     [](const KernelConfig& c) { return bulk(c) && in_turns(c) && c.gemm.tile.n == 160; }},
    {"fwd fp32 n2 c8 k132 i40x41 f1x1 +scale+residual+amax", "consumers in turns, every step",
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
    {"bwd_data tf32 n2 c72 k8 i40x41 f1x1 +bias", "crosswise in turns, several tiles, a filter turned round",
     [](const KernelConfig& c) { return tma_layout::crosswise(c) && c.gemm.ping_pong; }},
};

TEST(TmaWords, AreExact) { expect_forms_exact(kForms, stages, [](ConvProblem& problem) { problem.epilogue.beta = -3; }); }

}  // namespace
}  // namespace wt
