// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/tma_residual_slow_test.cc - Hopper kernels that copy their residual while they multiply, on the
// simulator.
#include "dispatch/candidates.h"
#include "exact_trial.h"
#include "kernel/gemm/tma/layout.h"

namespace wt {
namespace {

struct Form {
  const char* problem;
  const char* what;
  bool (*wanted)(const KernelConfig&);
};

constexpr Form kForms[] = {
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

TEST(TmaResidual, IsExact) {
  const auto device = simulated_hopper();
  for (const Form& form : kForms) {
    ConvProblem problem = problem_of(form.problem);
    problem.epilogue.beta = -3;
    SCOPED_TRACE(form.what);
    expect_exact(device, problem, first_kernel(problem, [&](const KernelConfig& c) {
                   return c.gemm.pipeline == Pipeline::kTma && tma_layout::copies_residual(c) && form.wanted(c);
                 }));
  }
}

}  // namespace
}  // namespace wt
