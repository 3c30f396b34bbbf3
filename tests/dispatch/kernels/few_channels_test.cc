// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/kernels/few_channels_test.cc - few channels in one and three dimensions, and channels of any number:
// exact on their edges, and where the kernels made for them are chosen.
#include <gtest/gtest.h>

#include <functional>

#include "kernels/rows_weight/device/layout.h"
#include "kernels/taps/device/layout.h"
#include "kernels/wavelet/device/layout.h"
#include "kernels/wavelet/view.h"
#include "tests/dispatch/exact_trial.h"

namespace wt {
namespace {

using Wanted = std::function<bool(const KernelConfig&)>;

void expect_exact_by(const char* text, const Wanted& wanted) {
  const ConvProblem problem = problem_of(text);
  expect_exact(simulated_hopper(), problem, first_kernel(problem, wanted));
}

struct DimsCase {
  const char* problem;
  Kind kind;
  int load_warps;
};

class FewDims : public ::testing::TestWithParam<DimsCase> {};

TEST_P(FewDims, AreExact) {
  expect_exact_by(GetParam().problem, [](const KernelConfig& c) {
    return c.kind == GetParam().kind && c.gemm.load_warps == GetParam().load_warps;
  });
}

INSTANTIATE_TEST_SUITE_P(
    Rows, FewDims,
    ::testing::Values(DimsCase{"fwd bf16 n2 c1 k40 i905 f10 s5", Kind::kRows, 4},  // two classes, an odd length
                      DimsCase{"fwd fp16 n1 c2 k16 i8192 f9 p4", Kind::kRows, 1},  // a strip of several copies
                      DimsCase{"bwd_data bf16 n2 c32 k1 i300 f7 p3", Kind::kRows, 4},
                      DimsCase{"fwd bf16 n2 c3 k24 i5x12x16 f3x7x7 s1x2x2 p1x3x3", Kind::kRows, 1},
                      DimsCase{"fwd fp16 n2 c3 k16 i4x9x11 f3x3x3 p1 +bias+relu", Kind::kRows, 4},  // an odd width
                      DimsCase{"fwd bf16 n1 c3 k8 i4x9x9 f3x2x3 s2x1x1", Kind::kRows, 4},  // a stride along d alone
                      DimsCase{"bwd_data bf16 n1 c24 k3 i4x7x9 f3x3x3 p1x0x2", Kind::kRows, 4},
                      DimsCase{"fwd bf16 n1 c16 k16 i3x6x8 f3x3x3 p1", Kind::kRows, 1},
                      DimsCase{"fwd bf16 n1 c4 k8 i2x3x4 f1x1x1", Kind::kRows, 1}));

INSTANTIATE_TEST_SUITE_P(
    RowsWeight, FewDims,
    ::testing::Values(DimsCase{"bwd_weight bf16 n2 c1 k40 i905 f10 s5", Kind::kRowsWeight, 4},
                      DimsCase{"bwd_weight fp16 n1 c1 k64 i4096 f7 p3", Kind::kRowsWeight, 1},
                      DimsCase{"bwd_weight bf16 n2 c3 k16 i4x9x11 f3x3x3 p1", Kind::kRowsWeight, 4},
                      DimsCase{"bwd_weight bf16 n1 c3 k32 i4x40x24 f3x3x3 p1", Kind::kRowsWeight, 1},  // rings in turns
                      DimsCase{"bwd_weight bf16 n2 c3 k8 i6x41x24 f5x3x3 s2 p2x1x1", Kind::kRowsWeight, 1},
                      DimsCase{"bwd_weight bf16 n1 c64 k3 i4x8x9 f3x3x3 p1", Kind::kRowsWeight, 4}));

INSTANTIATE_TEST_SUITE_P(Taps, FewDims,
                         ::testing::Values(DimsCase{"fwd bf16 n2 c32 k1 i300 f7 p3", Kind::kTaps, 1},
                                           DimsCase{"bwd_data fp16 n1 c2 k24 i50 f5 s3 p1", Kind::kTaps, 1},
                                           DimsCase{"bwd_data bf16 n1 c3 k64 i5x12x12 f3x7x7 s1x2x2 p1x3x3",
                                                    Kind::kTaps, 1},
                                           DimsCase{"fwd bf16 n1 c72 k2 i7x8x9 f2x3x3 d2x1x1 p1x1x0", Kind::kTaps, 1}));

// In one dimension a block takes several strips: their sums in registers, and in shared memory.
TEST(FewDims, BlocksTakeStripsInTurns) {
  for (const bool in_registers : {true, false}) {
    expect_exact_by("bwd_data bf16 n60 c1 k8 i1200 f7 p3", [&](const KernelConfig& c) {
      return c.kind == Kind::kTaps && taps_layout::in_registers(c) == in_registers;
    });
  }
}

// Rows of outputs that start anywhere, in each kernel that stages them.
struct AnyRowsCase {
  const char* problem;
  Kind kind;
  bool copied;  // inputs are copied to aligned rows before
};

class AnyRows : public ::testing::TestWithParam<AnyRowsCase> {};

TEST_P(AnyRows, AreExact) {
  expect_exact_by(GetParam().problem, [](const KernelConfig& c) {
    return c.kind == GetParam().kind && c.gemm.staging == Staging::kShared && c.gemm.vector_c == 1 &&
           c.gemm.aligned_copy == GetParam().copied;
  });
}

INSTANTIATE_TEST_SUITE_P(
    Problems, AnyRows,
    ::testing::Values(AnyRowsCase{"fwd bf16 n1 c64 k255 i9x9 f1x1", Kind::kTma, false},
                      AnyRowsCase{"fwd bf16 n1 c64 k27 i13x13 f3x3 s2 p1 +bias+residual+relu", Kind::kTma, false},
                      AnyRowsCase{"bwd_data fp16 n1 c41 k53 i8x9 f3x3 s2 p1", Kind::kTma, true},  // regions
                      AnyRowsCase{"fwd bf16 n1 c70 k101 i8x9 f3x3 p1", Kind::kTmaHalo, true},
                      AnyRowsCase{"fwd bf16 n1 c64 k13 i9x9 f3x3 p1", Kind::kTmaFold, false},
                      AnyRowsCase{"fwd bf16 n2 c18 k18 i7x16 f3x3 p1", Kind::kRows, false},
                      AnyRowsCase{"fwd bf16 n1 c19 k21 i7x13 f3x3 p1 +bias+residual", Kind::kRows, false},
                      AnyRowsCase{"fwd bf16 n1 c3 k1 i9x9 f3x3 p1", Kind::kRows, false}));  // a number per row

// Weight gradients whose dy has any number of channels, which load warps bring: in one to three dimensions, and with
// the image's place taken by dy.
TEST(AnyGradient, IsExact) {
  for (const char* text : {"bwd_weight bf16 n2 c18 k36 i9x16 f3x3 s2 p1", "bwd_weight fp16 n1 c7 k11 i9x9 f5x5 p2",
                           "bwd_weight bf16 n2 c40 k37 i9x11 f3x3 p1", "bwd_weight bf16 n1 c5 k70 i3x6x7 f3x3x3 p1",
                           "bwd_weight bf16 n2 c3 k5 i301 f7 s2"}) {
    expect_exact_by(text, [](const KernelConfig& c) {
      return c.kind == Kind::kRowsWeight && rows_weight_layout::loads_gradient_words(c);
    });
  }
}

// A filter of more k-blocks than the ring has stages stays in shared memory, where there is room.
TEST(PhaseColumns, KeepTheFilter) {
  const char* text = "bwd_data bf16 n2 c3 k64 i31x33 f11x11 s4 p2";
  const ConvProblem problem = problem_of(text);
  const KernelConfig config = first_kernel(problem, [](const KernelConfig& c) {
    return c.kind == Kind::kWavelet && wavelet_layout::has_phase_columns(c) && c.gemm.tile.n == 64;
  });
  const int blocks = 9;  // 3x3 shifts of 64 channels
  ASSERT_LT(config.gemm.stages, blocks);
  EXPECT_EQ(wavelet_kept_blocks(config, blocks), blocks);
  EXPECT_EQ(wavelet_kept_blocks(config, 100), 0) << "more than shared memory holds";
  expect_exact(simulated_hopper(), problem, config);
}

TEST(FewChannelsChoice, TakesTheKernelsMadeForThem) {
  const auto chosen = [](const char* text) {
    return rank_candidates(problem_of(text), Target::kSm90a, {}, Breadth::kAll).front().config.kind;
  };
  EXPECT_EQ(chosen("fwd bf16 n8 c1 k32 i24000 f7 p3"), Kind::kRows);
  EXPECT_EQ(chosen("fwd bf16 n4 c3 k64 i16x112x112 f3x7x7 s1x2x2 p1x3x3"), Kind::kRows);
  EXPECT_EQ(chosen("bwd_data bf16 n4 c3 k64 i16x112x112 f3x3x3 p1"), Kind::kTaps);
  EXPECT_EQ(chosen("bwd_data bf16 n64 c4 k320 i1000 f26"), Kind::kTaps);
  EXPECT_EQ(chosen("bwd_weight bf16 n2 c1 k32 i128x128x128 f3x3x3 p1"), Kind::kRowsWeight);
  EXPECT_EQ(chosen("fwd bf16 n8 c18 k18 i128x256 f3x3 p1"), Kind::kRows);
  EXPECT_EQ(chosen("fwd bf16 n32 c26 k26 i56x56 f3x3 p1"), Kind::kRows);
  EXPECT_EQ(chosen("fwd bf16 n8 c37 k53 i61x67 f3x3 p1"), Kind::kRows);
  EXPECT_EQ(chosen("fwd bf16 n16 c256 k255 i80x80 f1x1"), Kind::kTma);
  EXPECT_EQ(chosen("bwd_weight bf16 n16 c12 k12 i256x256 f3x3 p1"), Kind::kRowsWeight);
}

// The first number of the image lies anywhere, as in plans that take some images after the others.
TEST(ShiftedRows, TakeTensorsOfAnyAlignment) {
  const auto device = simulated_hopper();
  const ConvProblem two = problem_of("fwd bf16 n2 c3 k8 i5x7 f3x3 p1"),
                    one = problem_of("fwd bf16 n1 c3 k8 i5x7 f3x3 p1");
  const KernelConfig config =
      first_kernel(one, [](const KernelConfig& c) { return c.kind == Kind::kRows && c.gemm.load_warps == 4; });
  const auto plan = make_kernel_plan(device, one, config, "tested");
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto tensors = TrialTensors::make(device, two, true, 7);
  ASSERT_TRUE(tensors.ok()) << tensors.status().message();
  const auto whole = make_kernel_plan(device, two, config, "tested");
  ASSERT_TRUE(whole.ok() && (*whole)->execute((*tensors)->pointers(), nullptr).ok());
  ASSERT_TRUE((*tensors)->fetch_outputs().ok());
  const Buffer& output = output_of(two, (*tensors)->host());
  const size_t image = output.size() / 2;
  const std::vector<std::byte> expected(output.data() + image, output.data() + 2 * image);

  auto moved = (*tensors)->pointers();
  const size_t numbers = 5 * 7 * 3;
  ASSERT_NE(numbers * 2 % 16, 0u);
  moved[Tensor::kX] = static_cast<uint16_t*>(moved[Tensor::kX]) + numbers;
  ASSERT_TRUE((*plan)->execute(moved, nullptr).ok());
  ASSERT_TRUE((*tensors)->fetch_outputs().ok());
  EXPECT_EQ(std::vector<std::byte>(output.data(), output.data() + image), expected);
}

}  // namespace
}  // namespace wt
