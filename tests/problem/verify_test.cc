// SPDX-License-Identifier: Apache-2.0
#include "problem/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "problem/number.h"
#include "problem/random_problem.h"

namespace wt {
namespace {

HostTensors right_result(const ConvProblem& p, Fill fill) {
  HostTensors t = make_tensors(p, fill, 3);
  reference(p, t);
  return t;
}

void nudge(const ConvProblem& p, HostTensors& t, int64_t index, float value) {
  store(p.output_type(), output_of(p, t).data(), index, value);
}
float output_at(const ConvProblem& p, const HostTensors& t, int64_t index) {
  return load(p.output_type(), output_of(p, t).data(), index);
}

TEST(Verify, PassesRightResultsOfEveryKind) {
  Random random(8);
  RandomLimits limits;
  limits.max_multiply_adds = 40000;
  limits.empty_batch = true;
  for (int round = 0; round < 300; ++round) {
    const ConvProblem p = random_problem(random, limits);
    for (const Fill fill : {Fill::kExact, Fill::kRandom, Fill::kZero}) {
      const HostTensors t = right_result(p, fill);
      VerifyOptions options{.model = {.exact = fill == Fill::kExact}};
      VerifyReport report = verify(p, t, options);
      ASSERT_TRUE(report.passed()) << to_text(p) << "\n" << report.summary();
      ASSERT_EQ(report.compared, p.output_elements());
      options.work_limit = 1;
      report = verify(p, t, options);
      ASSERT_TRUE(report.passed()) << to_text(p) << "\n" << report.summary();
      ASSERT_TRUE(report.status().ok());
    }
  }
}

// The same sums in fp32 and in another order, as a kernel would, for each input type.
TEST(Verify, PassesFp32SumsInAnotherOrder) {
  for (const char* text : {"fwd fp32 n1 c64 k16 i8x8 f3x3 p1", "fwd bf16 n1 c64 k16 i8x8 f3x3 p1",
                           "fwd fp16 n1 c64 k16 i8x8 f3x3 p1", "fwd e4m3>bf16 n1 c64 k16 i8x8 f3x3 p1",
                           "fwd e5m2 n1 c64 k16 i8x8 f3x3 p1", "fwd tf32 n1 c64 k16 i8x8 f3x3 p1"}) {
    const ConvProblem p = *parse_problem(text);
    HostTensors t = make_tensors(p, Fill::kRandom);
    for (int64_t i = 0; i < p.y_elements(); ++i) {
      const int64_t k = i % p.k, w = i / p.k % 8, h = i / p.k / 8;
      float sum = 0;
      for (int64_t c = p.c - 1; c >= 0; --c) {
        for (int64_t tap = 0; tap < 9; ++tap) {
          const int64_t y = h + tap / 3 - 1, x = w + tap % 3 - 1;
          if (y < 0 || y >= 8 || x < 0 || x >= 8) continue;
          float a = load(p.x, t.x.data(), (y * 8 + x) * p.c + c), b = load(p.w, t.w.data(), (k * 9 + tap) * p.c + c);
          if (p.x == DataType::kTf32) a = round_to_tf32(a), b = round_to_tf32(b);
          sum += a * b;
        }
      }
      nudge(p, t, i, sum);
    }
    const VerifyReport report = verify(p, t);
    EXPECT_TRUE(report.passed()) << text << "\n" << report.summary();
    EXPECT_LE(report.worst, 1) << text;
  }
}

TEST(Verify, FindsOneWrongCorner) {
  const ConvProblem p = *parse_problem("fwd bf16 n2 c8 k16 i9x9 f3x3 p1");
  for (const int64_t index : {int64_t{0}, p.y_elements() - 1}) {
    HostTensors t = right_result(p, Fill::kExact);
    nudge(p, t, index, output_at(p, t, index) + 1);
    for (const int64_t limit : {int64_t{1} << 26, int64_t{1}}) {
      const VerifyReport report = verify(p, t, {.model = {.exact = true}, .work_limit = limit});
      EXPECT_FALSE(report.passed());
      EXPECT_EQ(report.wrong, 1);
      ASSERT_EQ(report.first.size(), 1u);
      EXPECT_EQ(report.first[0].index, index);
      EXPECT_EQ(report.first[0].got, report.first[0].expected + 1);
      EXPECT_EQ(report.first[0].bound, 0);
      EXPECT_EQ(report.status().code(), Code::kVerificationFailed);
      EXPECT_THAT(report.summary(), testing::HasSubstr(index ? "at n=1 k=15 h=8 w=8: expected" : "at n=0 k=0 h=0 w=0"));
    }
  }
}

TEST(Verify, FindsAnUnwrittenElementAnywhereEvenWhenSampling) {
  for (const char* text : {"fwd fp16 n4 c8 k16 i33x33 f3x3 p1", "fwd e4m3 n4 c8 k16 i33x33 f3x3 p1"}) {
    const ConvProblem p = *parse_problem(text);
    HostTensors t = right_result(p, Fill::kRandom);
    const int64_t index = 12345;
    std::memset(t.y.data() + index * size_of(p.y), 0xff, static_cast<size_t>(size_of(p.y)));
    const VerifyReport report = verify(p, t, {.work_limit = 1});
    EXPECT_TRUE(report.sampled());
    EXPECT_EQ(report.unwritten, 1);
    EXPECT_EQ(report.nan, 0);
    EXPECT_FALSE(report.passed());
    ASSERT_EQ(report.first.size(), 1u);
    EXPECT_TRUE(report.first[0].unwritten);
    EXPECT_THAT(report.summary(), testing::HasSubstr("never written"));
  }
}

TEST(Verify, NanNeverPasses) {
  const ConvProblem p = *parse_problem("fwd fp32 n1 c8 k16 i9x9");
  HostTensors t = right_result(p, Fill::kRandom);
  nudge(p, t, 77, std::numeric_limits<float>::quiet_NaN());
  EXPECT_EQ(verify(p, t, {.work_limit = 1}).nan, 1);
  // Not even where the reference is NaN too.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  store(p.x, t.x.data(), 0, nan);
  reference(p, t);
  EXPECT_FALSE(verify(p, t).passed());
}

TEST(Verify, FindsSwappedChannels) {
  const ConvProblem p = *parse_problem("bwd_data bf16 n1 c8 k16 i9x9 f3x3 p1");
  HostTensors t = right_result(p, Fill::kRandom);
  for (int64_t pixel = 0; pixel < 81; ++pixel) {
    const float a = output_at(p, t, pixel * 8 + 2), b = output_at(p, t, pixel * 8 + 3);
    nudge(p, t, pixel * 8 + 2, b);
    nudge(p, t, pixel * 8 + 3, a);
  }
  const VerifyReport report = verify(p, t);
  EXPECT_GT(report.wrong, 100);
  EXPECT_LE(report.wrong, 162);
  EXPECT_EQ(report.first.size(), 5u);
  EXPECT_TRUE(std::is_sorted(report.first.begin(), report.first.end(),
                             [](const Mismatch& a, const Mismatch& b) { return a.index < b.index; }));
}

TEST(Verify, FindsASmallRelativeError) {
  const ConvProblem p = *parse_problem("bwd_weight fp32 n2 c8 k16 i9x9 f3x3 p1");
  HostTensors t = right_result(p, Fill::kRandom);
  for (int64_t i = 0; i < p.w_elements(); ++i) nudge(p, t, i, output_at(p, t, i) * (1 + 0x1p-12f));
  const VerifyReport report = verify(p, t);
  EXPECT_GT(report.wrong, p.w_elements() / 2);
  EXPECT_GT(report.worst, 1);
  const ConvProblem half = *parse_problem("fwd bf16 n2 c8 k16 i9x9 f3x3 p1");
  HostTensors u = right_result(half, Fill::kRandom);
  for (int64_t i = 0; i < half.y_elements(); ++i) nudge(half, u, i, output_at(half, u, i) * (1 + 0x1p-6f));
  EXPECT_GT(verify(half, u).wrong, half.y_elements() / 2);
}

TEST(Verify, ChecksAmaxAgainstTheOutput) {
  const ConvProblem p = *parse_problem("fwd bf16 n1 c8 k16 i9x9 +amax");
  HostTensors t = right_result(p, Fill::kRandom);
  EXPECT_TRUE(verify(p, t).passed());
  float& amax = t.amax.as<float>()[0];
  const float right = amax;
  amax = right * 1.1f;
  EXPECT_THAT(verify(p, t).summary(), testing::HasSubstr("but the largest output is"));
  amax = right * 0.9f;
  EXPECT_FALSE(verify(p, t, {.work_limit = 1}).passed());
  poison(t.amax);
  EXPECT_EQ(verify(p, t).amax_fault, "amax was not written");
}

TEST(Verify, AmaxOfASaturatedOutputIsTheTrueOne) {
  const ConvProblem p = *parse_problem("fwd e4m3 n1 c8 k16 i9x9 +alpha=1000+amax");
  HostTensors t = right_result(p, Fill::kRandom);
  EXPECT_GT(t.amax.as<float>()[0], 448);
  EXPECT_TRUE(verify(p, t).passed()) << verify(p, t).summary();
  t.amax.as<float>()[0] *= 2;
  EXPECT_THAT(verify(p, t).summary(), testing::HasSubstr("the reference allows at most"));
}

bool in_sample(const std::vector<int64_t>& sample, int64_t index) {
  return std::binary_search(sample.begin(), sample.end(), index);
}

TEST(Verify, SamplesTileCornersAndBorders) {
  const ConvProblem p = *parse_problem("fwd bf16 n2 c64 k200 i40x40 f3x3 p1");
  const std::vector<int64_t> sample = sample_elements(p, {.work_limit = p.terms() * 20000});
  EXPECT_LT(static_cast<int64_t>(sample.size()), p.y_elements() / 10);
  const int64_t rows = 2 * 40 * 40;
  for (const int64_t tile : {64, 128}) {
    for (int64_t m = 0; m < rows; m += tile) {
      for (int64_t n = 0; n < 200; n += tile) {
        for (const int64_t row : {m, std::min(m + tile, rows) - 1}) {
          for (const int64_t column : {n, std::min<int64_t>(n + tile, 200) - 1}) {
            ASSERT_TRUE(in_sample(sample, row * 200 + column)) << row << " " << column;
          }
        }
      }
    }
  }
  for (const int64_t n : {0, 1}) {
    for (const int64_t h : {0, 39}) {
      for (const int64_t w : {0, 39}) {
        for (const int64_t k : {0, 199}) ASSERT_TRUE(in_sample(sample, ((n * 40 + h) * 40 + w) * 200 + k));
      }
    }
  }
}

TEST(Verify, SamplesTheCornersOfEveryStridePhase) {
  const ConvProblem p = *parse_problem("bwd_data bf16 n1 c64 k64 i64x64 f3x3 s2 p1");
  const std::vector<int64_t> sample = sample_elements(p, {.work_limit = p.terms() * 10000});
  // Row 63 of the phase that starts at (h, w) = (1, 0): its 32 columns make that pixel i=1, j=31.
  EXPECT_TRUE(in_sample(sample, ((1 + 2) * 64 + 2 * 31) * 64 + 63));
}

TEST(Verify, SamplesAreBoundedAndInside) {
  Random random(9);
  RandomLimits limits;
  limits.max_multiply_adds = int64_t{1} << 40;
  limits.max_channels = 300;
  limits.max_in = 100;
  for (int round = 0; round < 100; ++round) {
    const ConvProblem p = random_problem(random, limits);
    const std::vector<int64_t> sample = sample_elements(p, {.work_limit = 1 << 20, .seed = uint64_t(round)});
    ASSERT_FALSE(sample.empty());
    ASSERT_GE(sample.front(), 0);
    ASSERT_LT(sample.back(), p.output_elements()) << to_text(p);
    const double most = std::max(64.0, double(1 << 20) / static_cast<double>(p.terms())) + 33;
    ASSERT_LE(static_cast<double>(sample.size()), most) << to_text(p);
    ASSERT_EQ(std::adjacent_find(sample.begin(), sample.end(), std::greater_equal<>()), sample.end());
  }
}

// Its reference would take too long: that is no verdict on the result.
TEST(Verify, AStoreThatIsNotComparedIsNotWrong) {
  const ConvProblem p = *parse_problem("fwd bf16 n1 c8 k8 i4x4 f1x1 +store=\"out.put(value)\"");
  const VerifyReport report = verify(p, make_tensors(p, Fill::kExact), {.work_limit = 100});
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.status().code(), Code::kUnsupported);
  EXPECT_THAT(report.status().message(), ::testing::HasSubstr("use a smaller problem"));
}

TEST(Verify, AnEmptyOutputIsRight) {
  const ConvProblem p = *parse_problem("fwd bf16 n0 c8 k8 i8x8 +amax");
  const HostTensors t = right_result(p, Fill::kRandom);
  EXPECT_EQ(t.amax.as<float>()[0], 0);
  EXPECT_TRUE(verify(p, t).passed());
  EXPECT_TRUE(sample_elements(p, {}).empty());
}

}  // namespace
}  // namespace wt
