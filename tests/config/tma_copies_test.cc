// SPDX-License-Identifier: Apache-2.0
// tests/config/tma_copies_test.cc - how wide the copies of channels are that the Hopper kernels sum over.
#include <gtest/gtest.h>

#include "kernels/tma/device/layout.h"

namespace wt {
namespace {

KernelConfig kernel(DataType type, Loader loader) {
  KernelConfig config;
  config.target = Target::kSm90a;
  config.x = config.w = type;
  config.kind = loader == Loader::kTmaHalo ? Kind::kTmaHalo : Kind::kTma;
  config.gemm.pipeline = Pipeline::kTma;
  config.gemm.loader_a = loader;
  config.gemm.swizzle_a = config.gemm.swizzle_b = 128;
  config.gemm.tile = {128, 128, static_cast<short>(128 / size_of(type))};
  return config;
}

TEST(TmaCopies, DivideChannelsEvenlyInWholeSteps) {
  const KernelConfig config = kernel(DataType::kBf16, Loader::kTmaIm2col);
  struct {
    int depth, copied;
  } cases[] = {{64, 64},   {128, 64}, {144, 48}, {96, 48}, {80, 48}, {112, 64},
               {2376, 64}, {48, 48},  {40, 48},  {33, 48}, {8, 32}};
  for (const auto& c : cases) {
    const int copied = tma_layout::copied_depth(config, c.depth);
    EXPECT_EQ(copied, c.copied) << c.depth;
    EXPECT_GE((c.depth + 63) / 64 * copied, c.depth) << "no more boxes than of whole ones";
  }
}

TEST(TmaCopies, KnowTheTypesAndFormsThatTakeWholeBoxes) {
  EXPECT_EQ(tma_layout::copied_depth(kernel(DataType::kE4m3, Loader::kTmaIm2col), 160), 96);
  EXPECT_EQ(tma_layout::copied_depth(kernel(DataType::kTf32, Loader::kTmaIm2col), 40), 24);
  EXPECT_EQ(tma_layout::copied_depth(kernel(DataType::kF32, Loader::kTmaIm2col), 40), 32);  // parted in place
  KernelConfig narrow = kernel(DataType::kBf16, Loader::kTmaIm2col);
  narrow.gemm.swizzle_a = narrow.gemm.swizzle_b = 64;  // two boxes a stage
  EXPECT_EQ(tma_layout::copied_depth(narrow, 40), 32);
  KernelConfig halo = kernel(DataType::kBf16, Loader::kTmaHalo);
  halo.gemm.tile.k = 192;  // three taps a stage
  EXPECT_EQ(tma_layout::copied_depth(halo, 36), 48);
  EXPECT_EQ(tma_layout::copied_depth(halo, 16), 32);
}

}  // namespace
}  // namespace wt
