// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/weight_few_slow_test.cc - weight gradients whose output channels are the columns of the
// instruction, on the simulator: exact on the edges of tiles, channels, padding and parts.
#include "kernels/tma_weight_few/view.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

struct Form {
  const char* problem;
  short rows, pixels;
  int tap_rows;
  int splits = 0;  // PlanOptions::splits
};

// WHY few kernels for many problems: each is compiled once.
constexpr Form kForms[] = {
    {"bwd_weight bf16 n2 c136 k36 i19x17 f3x3 p1", 40, 128, 1, 3},              // tails of pixels and channels
    {"bwd_weight bf16 n1 c64 k4 i7x7 f3x3", 40, 128, 1},                        // fewer outputs than pixels of x
    {"bwd_weight bf16 n9 c8 k40 i33x8 f3x3 p1", 40, 128, 1, 2},                 // slots used again
    {"bwd_weight bf16 n0 c64 k36 i8x8 f3x3 p1", 40, 128, 1},                    // no images
    {"bwd_weight bf16 n2 c136 k36 i19x17 f3x3 p1:0x2", 40, 128, 3, 2},          // nine taps, padding of all kinds
    {"bwd_weight fp16 n1 c64 k18 i23x9 f3x3 p2x0:1 +residual", 24, 128, 1, 4},  // pairs of numbers
};

TEST(WeightFew, IsExact) {
  const auto device = simulated_hopper();
  for (const Form& form : kForms) {
    const ConvProblem problem = problem_of(form.problem);
    const KernelConfig config = first_kernel(problem, [&](const KernelConfig& c) {
      return c.kind == Kind::kTmaWeightFew && c.gemm.tile == Extent3{form.rows, 128, form.pixels} &&
             weight_few::tap_rows(c) == form.tap_rows;
    });
    expect_exact(device, problem, config, form.splits);
  }
}

// Zeros outside dy meet pixels that other taps read.
TEST(WeightFew, IsLeftOutWhereNonFiniteValuesMatter) {
  expect_finite_only(problem_of("bwd_weight bf16 n1 c64 k36 i9x9 f3x3 p1"),
                     [](const KernelConfig& c) { return c.kind == Kind::kTmaWeightFew; });
}

// Blocks of all parts fit the device at once, and every part has pixels.
TEST(WeightFew, HasPartsForOneWave) {
  for (const char* text :
       {"bwd_weight bf16 n16 c256 k36 i100x100 f3x3 p1", "bwd_weight bf16 n1 c256 k36 i9x9 f3x3 p1"}) {
    const ConvProblem problem = problem_of(text);
    for (const RankedCandidate& c : rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll)) {
      if (!c.accepts() || c.config.kind != Kind::kTmaWeightFew) continue;
      const WeightFewView view = weight_few_view(c.config, View(problem, usual_rates(Target::kSm90a)));
      EXPECT_LE(view.tiles() * view.splits, 132) << c.name;
      EXPECT_GT(view.blocks, (view.splits - 1) * view.blocks_per_split) << c.name;
    }
  }
}

}  // namespace
}  // namespace wt
