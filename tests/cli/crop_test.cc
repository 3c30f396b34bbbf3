// SPDX-License-Identifier: Apache-2.0
#include "cli/input/crop.h"

#include <gtest/gtest.h>

namespace wt::cli {
namespace {

ConvProblem problem_of(const std::string& text) {
  Result<ConvProblem> problem = parse_problem(text);
  EXPECT_TRUE(problem.ok()) << problem.status().message();
  return problem.ok() ? *problem : ConvProblem{};
}

// Layers of every kind in the suites.
const char* const kLayers[] = {
    "fwd bf16 n64 c3 k64 i224x224 f7x7 s2 p3",
    "fwd bf16 n64 c256 k1024 i14x14 f1x1",
    "fwd bf16 n8 c2048 k256 i33x33 f3x3 p12 d12",
    "fwd bf16 n32 c3 k1024 i224x224 f14x14 s14",
    "fwd bf16 n8 c48 k80 i61x61 f3x3 s3 p2 d2",
    "fwd bf16 n4 c64 k3 i256x256 f9x9 p4",
    "fwd bf16 n64 g960 c960 k960 i7x7 f3x3 p1",
    "fwd bf16 n64 g384 c384 k384 i14x14 f7x7 p3",
    "fwd bf16 n8 g16 c768 k768 i500 f128 p64",
    "fwd bf16 n16 c768 k768 i3000 f3 s2 p1",
    "fwd bf16 n8 c256 k256 i8000 f3 p64 d64",
    "fwd bf16 n1 c64 k128 i64x64x64 f3x3x3 s2 p1",
    "fwd bf16 n8 c144 k64 i16x56x56 f3x1x1 p1x0x0",
    "fwd bf16 n2 g32 c128 k256 i28x28 f3x3 p1",
    "fwd fp32 n16 c100 k37 i31x17 f3x3 s2 p1 +bias+relu",
};

class CropLayers : public ::testing::TestWithParam<std::tuple<const char*, Direction>> {};

TEST_P(CropLayers, KeepsTheKindAndFitsTheBudget) {
  ConvProblem layer = problem_of(std::get<0>(GetParam()));
  layer.direction = std::get<1>(GetParam());
  const ConvProblem small = crop(layer);
  SCOPED_TRACE(to_text(layer) + "  ->  " + to_text(small));
  ASSERT_TRUE(validate(small).ok()) << validate(small).message();
  EXPECT_LE(small.flops() / 2, kCropMultiplyAdds);
  EXPECT_LE(small.n, layer.n);
  EXPECT_LE(small.c, layer.c);
  EXPECT_LE(small.k, layer.k);
  EXPECT_EQ(small.c_per_group() % 8, layer.c_per_group() % 8);
  EXPECT_EQ(small.k_per_group() % 8, layer.k_per_group() % 8);
  EXPECT_EQ(small.g == 1, layer.g == 1);
  for (size_t axis = 0; axis < kMaxDims; ++axis) {
    EXPECT_LE(small.in[axis], layer.in[axis]);
    EXPECT_GE(small.in[axis], 1);
    EXPECT_EQ(small.in[axis] % layer.stride[axis], layer.in[axis] % layer.stride[axis]);
  }
  // Everything else is the layer's own.
  ConvProblem rest = small;
  rest.n = layer.n;
  rest.g = layer.g;
  rest.c = layer.c;
  rest.k = layer.k;
  rest.in = layer.in;
  EXPECT_EQ(rest, layer);
}

INSTANTIATE_TEST_SUITE_P(All, CropLayers,
                         ::testing::Combine(::testing::ValuesIn(kLayers),
                                            ::testing::Values(Direction::kForward, Direction::kBackwardData,
                                                              Direction::kBackwardWeight)));

TEST(Crop, LeavesSmallProblemsAlone) {
  const ConvProblem problem = problem_of("fwd bf16 n2 c16 k24 i9x9 f3x3 p1");
  EXPECT_EQ(crop(problem), problem);
}

TEST(Crop, KeepsChannelsModulo64WhereTheBudgetAllows) {
  const ConvProblem small = crop(problem_of("fwd bf16 n64 c2048 k1000 i7x7 f1x1"));
  EXPECT_EQ(small.c, 64);
  EXPECT_EQ(small.k, 64 + 1000 % 64);
}

TEST(Crop, KeepsDepthwiseDepthwise) {
  const ConvProblem small = crop(problem_of("fwd bf16 n64 g963 c963 k963 i56x56 f3x3 p1"));
  EXPECT_EQ(small.g, small.c);
  EXPECT_EQ(small.g, small.k);
  EXPECT_EQ(small.g % 8, 963 % 8);
}

TEST(Crop, CountsTheTilesThatDepthwiseLeavesEmpty) {
  ConvProblem layer = problem_of("fwd bf16 n2 g96 c96 k96 i56x56 f7x7 p3");
  layer.direction = Direction::kBackwardWeight;
  const ConvProblem small = crop(layer);
  // A tile a group over every output pixel.
  EXPECT_LE(64.0 * 64 * static_cast<double>(small.g * small.n * small.out()[1] * small.out()[2]), kCropMultiplyAdds);
}

TEST(Crop, TakesASmallerBudget) {
  const ConvProblem layer = problem_of("fwd bf16 n64 c256 k256 i56x56 f3x3 p1");
  EXPECT_LT(crop(layer, 5e5).flops(), crop(layer).flops());
  EXPECT_LE(crop(layer, 5e5).flops() / 2, 5e5);
}

TEST(Crop, LeavesEmptyBatchesAlone) {
  const ConvProblem empty = problem_of("fwd bf16 n0 c64 k64 i56x56 f3x3 p1");
  EXPECT_EQ(crop(empty), empty);
}

}  // namespace
}  // namespace wt::cli
