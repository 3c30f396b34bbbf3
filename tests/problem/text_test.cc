// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problem/random_problem.h"

namespace wt {
namespace {

ConvProblem parsed(std::string_view text) {
  const Result<ConvProblem> result = parse_problem(text);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : ConvProblem{};
}

TEST(Text, ReadsTheShortForm) {
  const ConvProblem p = parsed("fwd bf16 n16 c256 k128 i100x50 f3x5 p1");
  EXPECT_EQ(p.direction, Direction::kForward);
  EXPECT_EQ(p.dims, 2);
  EXPECT_EQ(p.layout, Layout::kChannelsLast);
  EXPECT_EQ(p.n, 16);
  EXPECT_EQ(p.c, 256);
  EXPECT_EQ(p.k, 128);
  EXPECT_EQ(p.g, 1);
  EXPECT_EQ(p.in, (Spatial{1, 100, 50}));
  EXPECT_EQ(p.filter, (Spatial{1, 3, 5}));
  EXPECT_EQ(p.pad_lower, (Spatial{0, 1, 1}));
  EXPECT_EQ(p.pad_upper, (Spatial{0, 1, 1}));
  EXPECT_EQ(p.out(), (Spatial{1, 100, 48}));
}

TEST(Text, ReadsEverything) {
  const ConvProblem p = parsed(
      "bwd_data e4m3*e5m2>bf16 n2 c64 k32 g8 i7x8x9 f3x2x1 s2x1x3 p1:0x2:3x0 d1x2x1 NCDHW "
      "+alpha=0.5+scale+bias+residual=-0.25+leaky_relu=0.125+amax");
  EXPECT_EQ(p.y, DataType::kE4m3);
  EXPECT_EQ(p.w, DataType::kE5m2);
  EXPECT_EQ(p.x, DataType::kBf16);
  EXPECT_EQ(p.layout, Layout::kChannelsFirst);
  EXPECT_EQ(p.stride, (Spatial{2, 1, 3}));
  EXPECT_EQ(p.pad_lower, (Spatial{1, 2, 0}));
  EXPECT_EQ(p.pad_upper, (Spatial{0, 3, 0}));
  EXPECT_EQ(p.dilation, (Spatial{1, 2, 1}));
  const Epilogue expected{.alpha = 0.5f,
                          .scale = true,
                          .bias = true,
                          .residual = true,
                          .beta = -0.25f,
                          .activation = Activation::kLeakyRelu,
                          .slope = 0.125f,
                          .amax = true};
  EXPECT_EQ(p.epilogue, expected);
}

TEST(Text, TypesOfScaleAndBias) {
  const ConvProblem p = parsed("fwd fp32 c8 k8 i8x8 +scale=fp16+bias=bf16+relu");
  EXPECT_EQ(p.epilogue.scale_type, DataType::kF16);
  EXPECT_EQ(p.epilogue.bias_type, DataType::kBf16);
  EXPECT_THAT(to_text(p), testing::HasSubstr("+scale=fp16+bias=bf16+relu"));
  EXPECT_EQ(parsed(to_text(p)), p);
  EXPECT_EQ(parsed(canonical_text(p)), p);
  EXPECT_THAT(to_text(parsed("fwd bf16 c8 k8 i8x8 +scale=fp32+bias=fp32")), testing::EndsWith("+scale+bias"));
}

// Quotes, backslashes, line ends and apostrophes come back; spaces and signs inside quotes end nothing.
TEST(Text, TheUsersTextRoundTrips) {
  const ConvProblem p = parsed(
      "bwd_data bf16 c8 k8 i8x8 +add=1:-0.5+grad_clamp=-1:1+aux=1+scalars=2:0.25+f=\"acc + 1 > 2 ?\\n in.aux[0] : "
      "\\x27a\\x27 + \\\"x\\\"[0]\\\\\"+amax");
  EXPECT_EQ(p.epilogue.added, 2);
  EXPECT_EQ(p.epilogue.betas[1], -0.5f);
  EXPECT_EQ(p.epilogue.gradient, Activation::kClamp);
  EXPECT_EQ(p.epilogue.low, -1.0f);
  EXPECT_EQ(p.epilogue.inputs, 1);
  EXPECT_EQ(p.epilogue.scalar_count, 2);
  EXPECT_EQ(p.epilogue.scalars[1], 0.25f);
  EXPECT_EQ(p.epilogue.expression, "acc + 1 > 2 ?\n in.aux[0] : 'a' + \"x\"[0]\\");
  EXPECT_EQ(parsed(to_text(p)), p);
  EXPECT_EQ(parsed(canonical_text(p)), p);
  const ConvProblem stored = parsed("fwd bf16 c8 k8 i8x8 +out=2+store=\"out.put(value); out.put(1, 2)\"");
  EXPECT_EQ(stored.epilogue.outputs, 2);
  EXPECT_EQ(to_text(stored), "fwd bf16 n1 c8 k8 i8x8 f1x1 +out=2+store=\"out.put(value); out.put(1, 2)\"");
}

TEST(Text, TypesFollowTheDirection) {
  const ConvProblem w = parsed("bwd_weight bf16>fp32 c8 k8 i8");
  EXPECT_EQ(w.x, DataType::kBf16);
  EXPECT_EQ(w.y, DataType::kBf16);
  EXPECT_EQ(w.w, DataType::kF32);
  const ConvProblem t = parsed("bwd_data tf32 c8 k8 i8");
  EXPECT_EQ(t.y, DataType::kTf32);
  EXPECT_EQ(t.w, DataType::kTf32);
  EXPECT_EQ(t.x, DataType::kF32);
}

TEST(Text, WordsComeInAnyOrderAndStepsInSeveralWords) {
  EXPECT_EQ(parsed("+bias f3x3 k8  i9x9\tc4 bf16 +relu s2 p1"), parsed("fwd bf16 n1 c4 k8 i9x9 f3x3 s2 p1 +bias+relu"));
}

TEST(Text, LayoutNamesAndTheirGroupSpellings) {
  for (const char* last : {"NWC", "NWGC"})
    EXPECT_EQ(parsed(fmt::format("fwd fp32 c4 k4 g2 i8 {}", last)).layout, Layout::kChannelsLast);
  for (const char* last : {"NHWC", "NHWGC"})
    EXPECT_EQ(parsed(fmt::format("fwd fp32 c4 k4 i8x8 {}", last)).layout, Layout::kChannelsLast);
  for (const char* last : {"NDHWC", "NDHWGC"})
    EXPECT_EQ(parsed(fmt::format("fwd fp32 c4 k4 i8x8x8 {}", last)).layout, Layout::kChannelsLast);
  for (const char* first : {"NCW", "NGCW"})
    EXPECT_EQ(parsed(fmt::format("fwd fp32 c4 k4 i8 {}", first)).layout, Layout::kChannelsFirst);
  for (const char* first : {"NCHW", "NGCHW"})
    EXPECT_EQ(parsed(fmt::format("fwd fp32 c4 k4 i8x8 {}", first)).layout, Layout::kChannelsFirst);
  for (const char* first : {"NCDHW", "NGCDHW"})
    EXPECT_EQ(parsed(fmt::format("fwd fp32 c4 k4 i8x8x8 {}", first)).layout, Layout::kChannelsFirst);
}

TEST(Text, PaddingWords) {
  EXPECT_EQ(to_text(parsed("fwd fp16 c4 k4 i10x9 f3x4 s2x1 psame")), "fwd fp16 n1 c4 k4 i10x9 f3x4 s2x1 p0:1x1:2");
  EXPECT_EQ(to_text(parsed("fwd fp16 c4 k4 i10x9 f3x4 pvalid")), "fwd fp16 n1 c4 k4 i10x9 f3x4");
  EXPECT_EQ(to_text(parsed("fwd fp16 c4 k4 i100 f4 d2 pcausal")), "fwd fp16 n1 c4 k4 i100 f4 p6:0 d2");
  EXPECT_EQ(to_text(parsed("fwd fp16 c4 k4 i5x8x8 f3 pcausal")), "fwd fp16 n1 c4 k4 i5x8x8 f3x3x3 p2:0x1x1");
}

TEST(Text, PrintsShortAndComplete) {
  const ConvProblem p = parsed("fwd bf16 n16 c256 k256 i100x100 f3x3 p1");
  EXPECT_EQ(to_text(p), "fwd bf16 n16 c256 k256 i100x100 f3x3 p1");
  EXPECT_EQ(canonical_text(p),
            "v1 fwd bf16*bf16>bf16 acc=fp32 NHWC n16 c256 k256 g1 i100x100 f3x3 s1x1 p1:1x1:1 d1x1 +alpha=1");
  EXPECT_EQ(to_text(parsed("fwd tf32 c4 k4 i8 +alpha=1e20+clamp")), "gemm tf32 m8 n4 k4 +alpha=1e+20+clamp");
  EXPECT_EQ(canonical_text(parsed("bwd_data fp16 c4 k4 i8 NCW +residual+clamp")),
            "v1 bwd_data fp16*fp16>fp16 acc=fp32 NCW n1 c4 k4 g1 i8 f1 s1 p0:0 d1 +alpha=1+residual=1+clamp=0:6");
}

TEST(Text, RandomProblemsRoundTrip) {
  Random random(20240501);
  RandomLimits limits;
  limits.empty_batch = true;
  limits.max_channels = 512;
  limits.max_batch = 100;
  limits.max_in = 500;
  limits.max_filter = 9;
  limits.max_multiply_adds = int64_t{1} << 60;
  limits.scaled = true;
  for (int i = 0; i < 20000; ++i) {
    const ConvProblem problem = random_problem(random, limits);
    const std::string brief = to_text(problem), complete = canonical_text(problem);
    const Result<ConvProblem> from_brief = parse_problem(brief), from_complete = parse_problem(complete);
    ASSERT_TRUE(from_brief.ok()) << brief << "\n" << from_brief.status().message();
    ASSERT_TRUE(from_complete.ok()) << complete << "\n" << from_complete.status().message();
    ASSERT_EQ(*from_brief, problem) << brief;
    ASSERT_EQ(*from_complete, problem) << complete;
    ASSERT_EQ(to_text(*from_complete), brief);
    ASSERT_EQ(canonical_text(*from_brief), complete);
  }
}

TEST(Text, RandomGarbageNeverParsesSilentlyWrong) {
  Random random(7);
  const std::string letters = "fwd bfp16ncki x:*>+=38NHWCrelu-.";
  for (int i = 0; i < 20000; ++i) {
    std::string text = "fwd bf16 n2 c8 k8 i9x9 f3x3 p1 +bias";
    for (int64_t edits = random.between(1, 3); edits > 0; --edits) {
      const size_t at = static_cast<size_t>(random.between(0, static_cast<int64_t>(text.size()) - 1));
      text[at] = letters[static_cast<size_t>(random.between(0, static_cast<int64_t>(letters.size()) - 1))];
    }
    const Result<ConvProblem> result = parse_problem(text);
    if (result.ok()) {
      ASSERT_EQ(*parse_problem(to_text(*result)), *result) << text;
    } else {
      ASSERT_FALSE(result.status().message().empty()) << text;
    }
  }
}

}  // namespace
}  // namespace wt
