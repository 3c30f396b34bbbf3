// SPDX-License-Identifier: Apache-2.0
// tests/config/constraints/weight_halo_test.cc - cases of the rows of weight gradients that load patches.
#include "kernels/tma_weight_halo/device/layout.h"
#include "kernels/tma_weight_halo/view.h"
#include "problem/problem.h"
#include "tests/config/row_cases.h"

namespace wt {
namespace {

// All nine taps of 64 channels, in parts, and one change.
template <class Change>
void patches_with(KernelConfig& c, Change change) {
  hopper(c);
  c.kind = Kind::kTmaWeightHalo;
  c.direction = Direction::kBackwardWeight;
  c.finite_only = true;
  c.gemm.loader_a = Loader::kTmaTiled;
  c.gemm.loader_b = Loader::kTmaHalo;
  c.gemm.tile = {64, 576, 64};
  c.gemm.mma = {64, 192, 16};
  c.gemm.warps = {4, 3, 1};
  c.gemm.split_k = SplitK::kWorkspace;
  change(c);
}

const RowCase kTargetCases[] = {
    {"weight-halo-kind", [](KernelConfig& c) { patches_with(c, [](KernelConfig& t) { t.finite_only = false; }); },
     "loader_b=tma_halo with direction=bwd_weight operands bf16 and bf16 loader_a=tma_tiled specialization=default "
     "finite_only=false"},
    {"weight-halo-kind", [](KernelConfig& c) { patches_with(c, [](KernelConfig& t) { t.x = t.y = DataType::kTf32; }); },
     "operands tf32 and tf32"},
    {"weight-halo-tile", [](KernelConfig& c) { patches_with(c, [](KernelConfig& t) { t.gemm.swizzle_b = 64; }); },
     "mma.n=192 swizzle_a=128 swizzle_b=64"},
    {"weight-halo-tile",
     [](KernelConfig& c) {
       patches_with(c, [](KernelConfig& t) {
         t.gemm.warps.n = 2;
         t.gemm.tile.n = 384;
       });
     },
     "tile=64x384x64 warps=4x2"},
    {"weight-halo-store", [](KernelConfig& c) { patches_with(c, [](KernelConfig& t) { t.gemm.groups_per_tile = 2; }); },
     "stream_k=off groups_per_tile=2 split_k=workspace"},
};

const RowCase kProblemCases[] = {
    {"weight-halo-step", [](KernelConfig& c) { patches_with(c, [](KernelConfig&) {}); },
     "stride=1x2x2 dilation=1x1x1: loader_b=tma_halo takes 1", "bwd_weight bf16 n1 c64 k64 i8x8 f3x3 s2 p1"},
};

const TrippedRows kTripped(kTargetCases, kProblemCases);
INSTANTIATE_TEST_SUITE_P(WeightHalo, TargetRow, testing::ValuesIn(kTargetCases));
INSTANTIATE_TEST_SUITE_P(WeightHalo, ProblemRow, testing::ValuesIn(kProblemCases));

TEST(WeightHaloTile, WastesAsFewPixelsAsItCan) {
  struct {
    const char* image;
    short pixels;
    int h, w;
  } cases[] = {
      {"56x56", 64, 8, 8},    // 7x7 tiles, the smallest patch
      {"28x28", 128, 4, 32},  // 7 tiles instead of 8
      {"14x14", 112, 14, 8},  // two, as of 7x16, whose patch is larger
      {"64x64", 128, 16, 8},  // as many as 8x16, whose patch is as large
      {"56x56", 112, 14, 8},
  };
  for (const auto& c : cases) {
    KernelConfig config;
    patches_with(config, [&](KernelConfig& t) { t.gemm.tile.k = c.pixels; });
    const auto problem = parse_problem(std::string("bwd_weight bf16 n1 c64 k64 f3x3 p1 i") + c.image);
    ASSERT_TRUE(problem.ok());
    const PixelTile tile = pixel_tile(config, *problem);
    EXPECT_EQ(tile.h, c.h) << c.image << " by " << c.pixels;
    EXPECT_EQ(tile.w, c.w) << c.image << " by " << c.pixels;
    EXPECT_LE(tile.patch_h * tile.patch_w, weight_halo::patch_pixels(config));
  }
}

// Half rows of channels have room for patches of whole rows.
TEST(WeightHaloTile, TakesWholeRowsWhereTheyAreFewer) {
  KernelConfig config;
  patches_with(config, [&](KernelConfig& t) {
    t.gemm.tile = {64, 288, 160};
    t.gemm.mma.n = 96;
    t.gemm.swizzle_b = 64;
  });
  const auto problem = parse_problem("bwd_weight bf16 n1 c64 k64 f3x3 p1 i50x50");
  ASSERT_TRUE(problem.ok());
  const PixelTile tile = pixel_tile(config, *problem);
  EXPECT_TRUE(tile.rows);
  EXPECT_EQ(tile.h, 3);
  EXPECT_EQ(tile.w, 52);
  EXPECT_EQ(tile.tiles_h, 17);
  config.gemm.tile.k = 64;  // no room for one row
  EXPECT_FALSE(pixel_tile(config, *problem).rows);
}

}  // namespace
}  // namespace wt
