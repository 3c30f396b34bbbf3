// SPDX-License-Identifier: Apache-2.0
// tests/dispatch/epilogue/wide_gradients_test.cc - fp32 gradients of 16-bit tensors have every kind of kernel that
// 16-bit ones have, and depthwise and grouped ones come out exact.
#include <set>

#include "tests/dispatch/one_of_each.h"

namespace wt {
namespace {

std::set<Kind> kinds_of(const std::string& text, Target target) {
  std::set<Kind> kinds;
  for (const RankedCandidate& c : rank_candidates(problem_of(text), target, {}, Breadth::kAll))
    if (c.accepts()) kinds.insert(c.config.kind);
  return kinds;
}

TEST(WideGradients, HaveEveryKind) {
  std::set<Kind> all;
  for (const char* shape :
       {"n2 c64 k64 i14x14 f1x1", "n2 c64 k64 i14x14 f3x3 p1", "n2 c64 k40 i14x14 f3x3 p1",
        "n2 c3 k64 i32x32 f7x7 s2 p3", "n2 c96 k96 g96 i14x14 f3x3 p1", "n2 c96 k96 g96 i14x14 f7x7 p3",
        "n2 c64 k64 g64 i9x9x9 f3x3x3 p1", "n2 c64 k64 g8 i14x14 f3x3 p1", "n2 c64 k64 g64 i64 f4 p3:0",
        "n2 c32 k32 g4 i64 f4 p3:0", "n2 c48 k24 i20x20 f3x3 p1", "n2 c3 k96 i32x32 f4x4 s4"}) {
    for (const Target target : {Target::kSm90a, Target::kSm80, Target::kGfx942}) {
      for (const char* type : {"bf16", "fp16"}) {
        const std::string narrow = std::string("bwd_weight ") + type + " " + shape;
        const std::string wide = std::string("bwd_weight ") + type + ">fp32 " + shape;
        const std::set<Kind> kinds = kinds_of(narrow, target);
        EXPECT_EQ(kinds_of(wide, target), kinds) << wide << " on " << text_of(target);
        all.insert(kinds.begin(), kinds.end());
      }
    }
  }
  for (const Kind kind :
       {Kind::kDepthwiseBanded, Kind::kGroups, Kind::kTmaWeight, Kind::kTmaWeightHalo, Kind::kWavelet})
    EXPECT_TRUE(all.contains(kind)) << text_of(kind);
}

TEST(WideGradients, AreExact) {
  const auto device = open_device("sim:sm_80");
  ASSERT_TRUE(device.ok()) << device.status().message();
  for (const char* text :
       {"bwd_weight bf16>fp32 n3 c24 k24 g24 i9x19 f3x3 p1 +residual",
        "bwd_weight fp16>fp32 n2 c16 k16 g16 i7x6 f7x7 p3", "bwd_weight bf16>fp32 n1 c8 k8 g8 i5x6x7 f3x3x3 p1",
        "bwd_weight bf16>fp32 n2 c32 k32 g4 i9x7 f3x3 p1"}) {
    const ConvProblem problem = problem_of(text);
    int tested = 0;
    for (const KernelConfig& config : one_of_each(problem, Target::kSm80)) {
      if (config.kind != Kind::kDepthwiseBanded && config.kind != Kind::kDepthwiseStrips &&
          config.kind != Kind::kGroups)
        continue;
      expect_exact(*device, problem, config);
      ++tested;
    }
    EXPECT_GT(tested, 0) << text;
  }
}

}  // namespace
}  // namespace wt
