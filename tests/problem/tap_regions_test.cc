// SPDX-License-Identifier: Apache-2.0
#include "problem/tap_regions.h"

#include <gtest/gtest.h>

#include <set>
#include <tuple>

namespace wt {
namespace {

ConvProblem parsed(const char* text) { return parse_problem(text).value(); }

// Every output pixel lies in one rectangle, which has exactly the taps that meet the image there.
void expect_exact(const char* text) {
  const ConvProblem problem = parsed(text);
  const bool forward = problem.direction == Direction::kForward;
  const Spatial size = forward ? problem.out() : problem.in, image = forward ? problem.in : problem.out();
  const std::vector<TapRegion> regions = tap_regions(problem);
  ASSERT_FALSE(regions.empty()) << text;
  std::set<std::tuple<int64_t, int64_t, int64_t>> seen;
  for (const TapRegion& region : regions) {
    const auto& [d, h, w] = region.dim;
    for (int64_t i = 0; i < d.count; ++i)
      for (int64_t j = 0; j < h.count; ++j)
        for (int64_t l = 0; l < w.count; ++l)
          EXPECT_TRUE(seen.insert({d.first + i, h.first + j, w.first + l}).second) << text;
    for (size_t i = 0; i < 3; ++i) {
      const TapSegment& segment = region.dim[i];
      for (int64_t pixel = segment.first; pixel < segment.first + segment.count; ++pixel) {
        for (int64_t tap = 0; tap < problem.filter[i]; ++tap) {
          // Backward data counts from the last tap.
          const int64_t at = forward
                                 ? pixel * problem.stride[i] - problem.pad_lower[i] + tap * problem.dilation[i]
                                 : pixel + problem.pad_lower[i] - (problem.filter[i] - 1 - tap) * problem.dilation[i];
          const bool meets = at >= 0 && at < image[i];
          const bool has = tap >= segment.tap_first && tap < segment.tap_first + segment.tap_count;
          EXPECT_EQ(meets, has) << text << " dim " << i << " pixel " << pixel << " tap " << tap;
        }
      }
    }
  }
  EXPECT_EQ(static_cast<int64_t>(seen.size()), size[0] * size[1] * size[2]) << text;
}

TEST(TapRegions, HaveTheTapsThatMeetTheImage) {
  expect_exact("fwd bf16 n1 c64 k64 i33x33 f3x3 p12 d12");
  expect_exact("fwd bf16 n1 c64 k64 i33x33 f3x3 p18 d18");
  expect_exact("fwd bf16 n1 c64 k64 i20x31 f3x3 p9x11 d9x11 s2x1");
  expect_exact("bwd_data bf16 n1 c64 k64 i17x19 f3x3 p9x6 d9x6");
  expect_exact("fwd bf16 n1 c64 k64 i50 f4 p20 d20");
  expect_exact("fwd bf16 n1 c64 k64 i9x9 f3x3 p20 d20");
}

TEST(TapRegions, LeaveMostProblemsInOnePiece) {
  for (const char* text :
       {"fwd bf16 n1 c64 k64 i7x7 f3x3 p1", "fwd bf16 n1 c64 k64 i100x100 f3x3 p2 d2",
        "bwd_data bf16 n1 c64 k64 i33x33 f3x3 p12 d12 s2", "bwd_weight bf16 n1 c64 k64 i33x33 f3x3 p12 d12",
        "fwd bf16 n1 c64 k64 i20x20 f7x7 p9 d3", "fwd bf16 n1 c64 k64 i200x200 f3x3 p100 d100"}) {
    EXPECT_TRUE(tap_regions(parsed(text)).empty()) << text;
  }
}

}  // namespace
}  // namespace wt
