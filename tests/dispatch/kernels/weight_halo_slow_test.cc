// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/weight_halo_slow_test.cc - weight gradients whose patches of x serve several taps, on the
// simulator: exact on the edges of tiles, filters, channels and parts.
#include "kernels/tma_weight_halo/device/layout.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

struct Form {
  const char* problem;
  short rows, columns, pixels;
  SplitK split;
  int splits = 0;      // PlanOptions::splits
  bool pairs = false;  // of planes
};

constexpr SplitK kParts = SplitK::kWorkspace, kWhole = SplitK::kNone;

// WHY few kernels for many problems: each is compiled once.
constexpr Form kForms[] = {
    {"bwd_weight bf16 n2 c72 k40 i9x17 f3x3 p1", 64, 576, 128, kParts, 3},      // tails of pixels and channels
    {"bwd_weight bf16 n1 c8 k72 i19x10 f3x3 p2x0:1", 64, 576, 128, kParts, 2},  // padding of all kinds
    {"bwd_weight bf16 n5 c64 k64 i28x28 f3x3 p1", 64, 576, 128, kParts, 4},     // rows of 32, slots used again
    {"bwd_weight bf16 n1 c24 k16 i7x9 f5x4", 64, 576, 128, kParts},             // a filter of several tiles of taps
    {"bwd_weight bf16 n2 g2 c80 k48 i8x8 f3x3 p1", 64, 576, 128, kParts, 5},    // groups
    {"bwd_weight bf16 n33 c24 k40 i7x8 f3x3 p1", 64, 576, 128, kParts, 19},     // parts that threads share
    {"bwd_weight bf16 n2 c20 k36 i9x11 f3x3 p1", 64, 576, 64, kParts, 2},       // copies of whole rows
    {"bwd_weight bf16 n9 c32 k72 i7x7 f3x3 p1", 64, 288, 128, kParts, 2},       // whole image rows, slots used again
    {"bwd_weight bf16 n1 c40 k24 i9x26 f3x5 p1x0:2", 64, 288, 128, kParts, 3},
    {"bwd_weight bf16 n2 c72 k40 i6x5x7 f4x1x1 p2:1x0x0", 128, 192, 128, kParts, 3},  // taps below each other
    {"bwd_weight bf16 n2 c72 k136 i11x9 f5x1 p2x0", 128, 192, 128, kParts, 2},
    {"bwd_weight bf16 n2 c40 k32 i4x9x11 f3x3x3 p1", 64, 288, 64, kParts, 3, true},  // pairs of planes
    {"bwd_weight bf16 n1 c32 k40 i3x7x7 f2x3x3 p0:1x1x1", 64, 288, 64, kParts, 2, true},
    {"bwd_weight bf16 n0 c64 k64 i8x8 f3x3 p1", 64, 576, 128, kParts},          // no images
    {"bwd_weight bf16 n1 c40 k72 i4x9x11 f3x3x3 p1", 64, 576, 128, kParts, 3},  // planes
    {"bwd_weight bf16 n2 c64 k24 i3x8x8 f2x3x3 p1:0x1x0", 64, 576, 128, kParts},
    {"bwd_weight bf16 n3 c72 k136 i150 f3 p1", 128, 192, 128, kParts, 3},        // one dimension
    {"bwd_weight bf16 n2 c64 k136 i15x13 f1x3 p0x1", 128, 192, 128, kParts, 2},  // one row of taps
    {"bwd_weight bf16 n1 c96 k64 i9x12 f3x3 p1", 64, 288, 128, kParts, 2},       // half rows of channels
    {"bwd_weight fp16 n1 c72 k72 i14x30 f3x3 p1 +residual", 64, 576, 64, kWhole},
};

TEST(WeightHalo, IsExact) {
  const auto device = simulated_hopper();
  for (const Form& form : kForms) {
    const ConvProblem problem = problem_of(form.problem);
    const KernelConfig config = first_kernel(problem, [&](const KernelConfig& c) {
      return c.kind == Kind::kTmaWeightHalo && c.gemm.tile == Extent3{form.rows, form.columns, form.pixels} &&
             c.gemm.split_k == form.split && weight_halo::pairs_planes(c) == form.pairs;
    });
    expect_exact(device, problem, config, form.splits);
  }
}

// Zeros outside dy meet pixels that other taps read.
TEST(WeightHalo, IsLeftOutWhereNonFiniteValuesMatter) {
  expect_finite_only(problem_of("bwd_weight bf16 n1 c64 k64 i9x9 f3x3 p1"),
                     [](const KernelConfig& c) { return c.kind == Kind::kTmaWeightHalo; });
}

}  // namespace
}  // namespace wt
