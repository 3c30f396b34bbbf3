// SPDX-License-Identifier: Apache-2.0
// tests/config/corners_test.cc - bounds of im2col corners of strided backward data against every phase's own.
#include <gtest/gtest.h>

#include "base/format.h"
#include "kernels/constraints.h"
#include "problem/gemm_view.h"

namespace wt {
namespace {

bool accepts_corners(const ConvProblem& problem) {
  KernelConfig config;
  config.direction = problem.direction;
  config.target = Target::kSm90a;
  config.dims = static_cast<unsigned char>(problem.dims);
  config.kind = Kind::kTma;
  config.gemm.pipeline = Pipeline::kTma;
  config.gemm.loader_a = Loader::kTmaIm2col;
  const Case at{config, info_of(config.target), &problem, {}};
  for (const Constraint& row : problem_rows()) {
    if ((row.id == "tma-corner" || row.id == "tma-offset") && !(row.applies(at) && row.holds(at))) return false;
  }
  return true;
}

// How far the worst corner or offset of all phases is inside what the hardware has bits for.
int64_t room(const ConvProblem& p, int64_t limit) {
  int64_t least = limit;
  for (size_t i = static_cast<size_t>(kMaxDims - p.dims); i < kMaxDims; ++i) {
    for (const DimPhase& phase : dim_phases(p, static_cast<int>(i))) {
      if (phase.tap_count == 0) continue;
      const int64_t lower = phase.shift_first + (phase.tap_count - 1) * phase.shift_step;
      const int64_t upper = lower + phase.count - p.out()[i];
      const int64_t offset = (phase.tap_count - 1) * -phase.shift_step;
      least =
          std::min({least, lower + limit, limit - 1 - lower, upper + limit, limit - 1 - upper, 2 * limit - 1 - offset});
    }
  }
  return least;
}

TEST(Corners, OfStridedBackwardDataHoldInEveryPhase) {
  int accepted = 0, declined = 0;
  for (const int stride : {1, 2, 3, 4}) {
    for (const int filter : {1, 2, 3, 7, 40}) {
      for (const int dilation : {1, 2, 3}) {
        for (const int pad : {0, 1, 14, 17, 31, 50}) {
          for (const int in : {64, 65, 67, 100}) {
            const auto problem = parse_problem(fmt::format(
                "bwd_data bf16 n1 c8 k8 i3x5x{} f1x1x{} s1x1x{} d1x1x{} p0x0x{}", in, filter, stride, dilation, pad));
            if (!problem.ok()) continue;
            const int64_t left = room(*problem, 16);
            if (accepts_corners(*problem)) {
              EXPECT_GE(left, 0) << to_text(*problem);
              ++accepted;
            } else {
              EXPECT_LT(left, 3) << to_text(*problem);
              ++declined;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(declined, 100);
}

// What strides leave of the image does not count.
TEST(Corners, OfLargeStridedImagesFit) {
  for (const char* text :
       {"bwd_data bf16 n1 c64 k128 i64x64x64 f3x3x3 s2 p1", "bwd_data bf16 n1 c64 k64 i640x640 f3x3 s2 p1"}) {
    EXPECT_TRUE(accepts_corners(*parse_problem(text))) << text;
  }
}

}  // namespace
}  // namespace wt
