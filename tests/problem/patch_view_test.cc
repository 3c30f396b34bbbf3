// SPDX-License-Identifier: Apache-2.0
// tests/problem/patch_view_test.cc - convolutions over patches and the view that they are computed by.
#include "problem/patch_view.h"

#include <gtest/gtest.h>

namespace wt {
namespace {

ConvProblem problem_of(const char* text) {
  const auto problem = parse_problem(text);
  EXPECT_TRUE(problem.ok()) << text << ": " << problem.status().message();
  return *problem;
}

TEST(PatchView, IsTheSameMemory) {
  struct Case {
    const char *patches, *view;
  };
  constexpr Case kCases[] = {
      {"fwd bf16 n32 c3 k1024 i224x224 f14x14 s14", "fwd bf16 n512 c42 k1024 i14x16 f14x1"},
      {"bwd_weight bf16 n2 c96 k8 i6x8 f3x2 s3x2", "bwd_weight bf16 n4 c192 k8 i3x4 f3x1"},
      {"bwd_data bf16 n2 c96 k8 i6x8 f3x2 s3x2", "bwd_data bf16 n2 c576 k8 i2x4 f1x1"},
      {"fwd bf16 n2 c5 k8 i12 f4 s4 +bias", "fwd bf16 n2 c20 k8 i3 f1 +bias"},
  };
  for (const Case& each : kCases) {
    const ConvProblem patches = problem_of(each.patches), view = patch_view(patches);
    ASSERT_TRUE(is_patch(patches)) << each.patches;
    EXPECT_TRUE(validate(view).ok()) << each.patches;
    EXPECT_EQ(to_text(view), to_text(problem_of(each.view)));
    EXPECT_EQ(view.x_elements(), patches.x_elements());
    EXPECT_EQ(view.w_elements(), patches.w_elements());
    EXPECT_EQ(view.y_elements(), patches.y_elements());
  }
}

TEST(PatchView, OfPackedPatchesIsAUnitFilter) {
  const ConvProblem view = patch_view(problem_of("bwd_weight bf16 n32 c3 k1024 i224x224 f14x14 s14"), true);
  EXPECT_EQ(to_text(view), to_text(problem_of("bwd_weight bf16 n32 c588 k1024 i16x16 f1x1")));
}

TEST(PatchView, SaysWhereRunsLie) {
  const PatchRuns runs = patch_runs(problem_of("bwd_data bf16 n2 c96 k8 i6x8 f3x2 s3x2"));
  EXPECT_EQ(runs.length, 192);
  EXPECT_EQ(runs.gap, 8 * 96 - 192);
}

// Every row of a patch lies inside the copied numbers, behind one of the shifts.
TEST(PatchView, SaysHowRawPatchesStart) {
  for (const int64_t row : {42, 7, 15, 4, 90}) {
    ConvProblem view = problem_of("fwd bf16 n8 c1 k8 i14x16 f14x1");
    view.c = row;
    const RawPatches patches = raw_patches(view);
    EXPECT_EQ(patches.depth % 8, 0);
    for (int64_t column = 0; column < 16; ++column) {
      const int64_t before = column * row % 8;
      EXPECT_EQ(before % patches.step, 0);
      EXPECT_LT(before / patches.step, patches.shifts);
      EXPECT_LE(before + row, patches.depth);
    }
  }
  ConvProblem view = problem_of("fwd bf16 n8 c42 k8 i14x16 f14x1");
  EXPECT_EQ(raw_patches(view).depth, 48);
  EXPECT_EQ(raw_patches(view).shifts, 4);
}

TEST(PatchView, IsOfPatchesAlone) {
  for (const char* text :
       {"fwd bf16 n1 c3 k8 i8x8 f2x2 s2x1", "fwd bf16 n1 c3 k8 i8x8 f2x2 s2 p1", "fwd bf16 n1 c3 k8 i9x8 f2x2 s2",
        "fwd bf16 n1 c4 k8 g2 i8x8 f2x2 s2", "fwd bf16 n1 c3 k8 i8x8 f2x1 s2x1", "fwd bf16 n1 c3 k8 i4x4x4 f2x2x2 s2",
        "fwd bf16 NCHW n1 c3 k8 i8x8 f2x2 s2", "bwd_data bf16 n1 c3 k8 i8x8 f2x2 s2 +bias",
        "bwd_data bf16 n1 c3 k8 i8x8 f2x2 s2 +residual"})
    EXPECT_FALSE(is_patch(problem_of(text))) << text;
}

}  // namespace
}  // namespace wt
