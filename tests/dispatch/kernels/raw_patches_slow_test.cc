// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/raw_patches_slow_test.cc - convolutions over patches that are read where they lie, though
// their rows are no whole 16 bytes: exact on the simulator, left out where non-finite values matter, and without
// spills; and gradients over patches that are packed into rows.
#include "dispatch/choice/candidates.h"
#include "kernels/tma/device/layout.h"
#include "tests/dispatch/exact_trial.h"
#include "tests/dispatch/spills.h"

namespace wt {
namespace {

struct Form {
  const char* problem;
  short rows, columns;
  bool shared;  // filters, by two blocks
};

constexpr Form kForms[] = {
    {"fwd bf16 n70 c3 k72 i28x56 f14x14 s14", 128, 64, false},               // four starts, two tiles of a column
    {"fwd bf16 n2 c1 k136 i14x56 f7x7 s7 +bias+relu", 128, 64, false},       // eight starts, half a box
    {"fwd fp16 n150 c3 k40 i56 f7 s7", 128, 64, false},                      // one dimension
    {"fwd bf16 n5 c3 k136 i30x120 f30x30 s30", 128, 128, false},             // two boxes a row, consumers in turns
    {"fwd bf16 n70 c3 k264 i28x56 f14x14 s14 +scale+bias", 128, 256, true},  // half of a pair of tiles past the end
};

TEST(RawPatches, AreExact) {
  const auto device = simulated_hopper();
  for (const Form& form : kForms) {
    const ConvProblem problem = problem_of(form.problem);
    expect_exact(device, problem, first_kernel(problem, [&](const KernelConfig& c) {
                   return tma_layout::raw_patches(c) && c.gemm.tile.m == form.rows && c.gemm.tile.n == form.columns &&
                          c.gemm.multicast_b == form.shared;
                 }));
  }
}

// Weight gradients pack patches into rows first: pairs of numbers, odd runs, one dimension, gradients that are copied.
TEST(PackedPatches, AreExact) {
  const auto device = simulated_hopper();
  for (const char* text : {"bwd_weight bf16 n3 c3 k72 i28x42 f14x14 s14", "bwd_weight bf16 n2 c5 k36 i10x20 f5x5 s5",
                           "bwd_weight fp16 n5 c3 k64 i21 f7 s7", "bwd_weight bf16 n4 c3 k64 i32x32 f4x4 s4"}) {
    const ConvProblem problem = problem_of(text);
    expect_exact(device, problem, first_kernel(problem, tma_layout::packs_patches));
  }
}

// Zeros of the filter meet neighbouring patches.
TEST(RawPatches, AreLeftOutWhereNonFiniteValuesMatter) {
  expect_finite_only(problem_of("fwd bf16 n8 c3 k64 i28x56 f14x14 s14"), tma_layout::raw_patches);
}

#if WT_HAVE_NVRTC
TEST(RawPatches, HaveNoSpills) {
  std::vector<KernelConfig> kernels;
  for (const RankedCandidate& c :
       rank_candidates(problem_of("fwd bf16 n32 c3 k1024 i224x224 f14x14 s14"), Target::kSm90a, {}, Breadth::kAll)) {
    if (tma_layout::raw_patches(c.config) && c.config.gemm.tile.n == 256 && c.config.gemm.tile.m == 128)
      kernels.push_back(c.config);
  }
  ASSERT_EQ(kernels.size(), 2u);
  expect_no_spills(kernels);
}
#endif

}  // namespace
}  // namespace wt
