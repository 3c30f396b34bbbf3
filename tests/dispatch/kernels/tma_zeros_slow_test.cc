// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/tma_zeros_slow_test.cc - strided backward data whose stride leaves pixels without taps, on the
// simulator: Hopper kernels that write their zeros beside the products, and lists of unequal tiles. Outputs are
// poisoned before.
#include <cmath>

#include "dispatch/choice/candidates.h"
#include "kernels/tma/device/layout.h"
#include "problem/reference.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

using Wanted = bool (*)(const KernelConfig&);

struct Form {
  const char* problem;
  const char* what;
  Wanted wanted;
};

bool any(const KernelConfig&) { return true; }
bool in_turns(const KernelConfig& c) { return c.gemm.ping_pong; }
bool two_blocks(const KernelConfig& c) { return c.min_blocks == 2; }
bool copies(const KernelConfig& c) { return tma_layout::copies_rows(c) && c.gemm.vector_c == 2; }
bool divides(const KernelConfig& c) { return tma_layout::divides_by_taps(c); }
bool merges(const KernelConfig& c) { return c.gemm.groups_per_tile > 1; }

constexpr Form kZeroForms[] = {
    {"bwd_data bf16 n5 c64 k64 i26x25 f1x1 s2", "three of four pixels", in_turns},
    {"bwd_data bf16 n3 c72 k64 i25x26 f1x1 s3", "eight of nine, odd vectors, two blocks per multiprocessor",
     two_blocks},
    {"bwd_data bf16 n2 c24 k72 i13x17 f3x3 s3 d3 p2", "all taps in one phase", any},
    {"bwd_data bf16 n2 c40 k64 i11x10 f3x3 s2 d2 p1", "stride and dilation of 2, padding 1", in_turns},
    {"bwd_data fp16 n2 c64 k64 i19x12 f2x1 s3x2", "phases of one tap and of none", any},
    {"bwd_data bf16 n1 g2 c128 k128 i12x9 f1x1 s2", "groups, all of whose channels are written at once", any},
    {"bwd_data bf16 n2 g8 c128 k128 i12x9 f1x1 s2", "merged groups", merges},
    {"bwd_data bf16 n3 c64 k64 i71 f1 s2", "one dimension", any},
    {"bwd_data bf16 n2 c16 k64 i5x6x7 f1x1x1 s2", "seven of the eight phases of a cube, rows of two vectors", any},
    {"bwd_data bf16 n2 c32 k64 i5x6x7 f1x3x1 s2 p0x1x0", "planes and columns of zeros", in_turns},
    {"bwd_data bf16 n2 c18 k20 i9x9 f1x1 s2", "pairs of channels, beside copies of whole rows", copies},
    {"bwd_data tf32 n2 c36 k64 i9x10 f1x1 s2", "outputs of 32 bits", any},
    {"bwd_data bf16 n2 c64 k64 i1x1 f1x1 s3 p1", "no pixel that a tap reaches", in_turns},
    {"bwd_data bf16 n9 c8 k64 i40x3 f1x1 s9x1", "few tiles, and zeros for many blocks", in_turns},
    {"bwd_data bf16 n2 c72 k64 i15x13 f3x3 p12:2x7 d7", "rectangles of dx, some of them without taps", divides},
    {"bwd_data bf16 n2 c64 k64 i8x9 f1x1 s2 +relu+amax", "an activation that keeps zero, and the largest", any},
};

// Other epilogues make something else of zero: pixels without taps are tiles there.
constexpr Form kOtherForms[] = {
    {"bwd_data bf16 n2 c64 k64 i8x9 f1x1 s2 +bias", "a bias", in_turns},
    {"bwd_data bf16 n2 c64 k64 i8x9 f1x1 s3 +residual", "a residual", any},
    {"bwd_data bf16 n1 c64 k64 i8x9 f1x1 s2 +sigmoid", "an activation that makes a half of zero", any},
    {"bwd_data bf16 n1 c64 k64 i8x9 f1x1 s2 +softplus", "an activation that makes log 2 of zero", any},
};

void expect_form(const std::shared_ptr<Device>& device, const Form& form, bool writes_zeros) {
  const ConvProblem problem = problem_of(form.problem);
  auto kernels = rank_candidates(problem, Target::kSm90a, {}, Breadth::kAll);
  std::erase_if(kernels, [&](const RankedCandidate& c) {
    return !c.accepts() || c.config.gemm.pipeline != Pipeline::kTma || c.config.gemm.split_k != SplitK::kNone ||
           tma_layout::writes_zeros(c.config) != writes_zeros || !form.wanted(c.config);
  });
  ASSERT_FALSE(kernels.empty()) << form.what << ": no kernel for " << form.problem;
  expect_exact(device, problem, kernels.front().config);
}

TEST(TmaZeros, AreWrittenBesideTheProducts) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const Form& form : kZeroForms) expect_form(*device, form, true);
}

// 36 tiles of four taps, 78 of two and 43 of one for 132 multiprocessors: short ones go to blocks that had short ones.
TEST(TmaTileLists, AreExact) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  const auto listed = [](const KernelConfig& c) {
    return tma_layout::lists_work(c) && c.gemm.tile.m == 64 && c.gemm.tile.n == 32;
  };
  expect_form(*device, {"bwd_data bf16 n16 c32 k64 i25x25 f3x3 s2 p1", "a list of tiles", listed}, true);
}

TEST(TmaZeros, AreTilesWhereTheEpilogueMakesSomethingOfZero) {
  const auto device = open_device("sim:sm_90a");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const Form& form : kOtherForms) expect_form(*device, form, false);
}

TEST(TmaZeros, KnowWhichEpiloguesKeepZero) {
  const auto keeps = [](auto change) {
    EpilogueConfig steps;
    change(steps);
    return tma_layout::keeps_zero(steps);
  };
  EXPECT_TRUE(keeps([](EpilogueConfig&) {}));
  EXPECT_FALSE(keeps([](EpilogueConfig& s) { s.bias = true; }));
  EXPECT_FALSE(keeps([](EpilogueConfig& s) { s.scale = true; }));
  EXPECT_FALSE(keeps([](EpilogueConfig& s) { s.residual = true; }));
  EXPECT_FALSE(keeps([](EpilogueConfig& s) { s.added = 1; }));
  EXPECT_FALSE(keeps([](EpilogueConfig& s) { s.expression = true; }));
  EXPECT_FALSE(keeps([](EpilogueConfig& s) { s.store = true; }));
  // The reference is the judge: bounds of clamp may exclude zero, and a saved value that is not a number reaches the
  // output through a smooth derivative.
  for (const ActivationFacts& facts : kActivations) {
    const Epilogue value{.activation = facts.activation, .low = 0.5f, .high = 1};
    EXPECT_EQ(keeps([&](EpilogueConfig& s) { s.activation = facts.activation; }), activate(value, 0) == 0)
        << facts.name;
    const Epilogue gradient{.gradient = facts.activation, .low = 0.5f, .high = 1};
    const bool finite = std::isfinite(activation_derivative(gradient, NAN));
    EXPECT_EQ(keeps([&](EpilogueConfig& s) { s.gradient = facts.activation; }), finite) << facts.name;
  }
}

}  // namespace
}  // namespace wt
