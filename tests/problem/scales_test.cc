// SPDX-License-Identifier: Apache-2.0
// tests/problem/scales_test.cc - numbers with scales of blocks: their text, rules, bytes, data and reference.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "problem/number.h"
#include "problem/random_problem.h"
#include "problem/reference.h"
#include "problem/verify.h"

namespace wt {
namespace {

using testing::HasSubstr;

constexpr const char* kScaled[] = {
    "fwd e4m3>bf16 n2 c64 k5 i6x5 f3x3 p1 scales=mx", "fwd e5m2*e4m3>fp16 n1 c96 k6 g3 i7 f4 s2 p2:1 d2 scales=mx",
    "fwd e2m1>fp32 n2 c64 k3 i3x4x3 f2x1x3 scales=mx", "fwd e2m1>bf16 n3 c48 k6 g3 i5x5 f3x3 p1 scales=nv +bias+relu"};

std::string message_of(const std::string& text) {
  const auto problem = parse_problem(text);
  return problem.ok() ? "accepted" : problem.status().message();
}

TEST(Scales, TextsComeBack) {
  for (const char* text : kScaled) {
    const auto problem = parse_problem(text);
    ASSERT_TRUE(problem.ok()) << problem.status().message();
    EXPECT_EQ(to_text(*problem), text);
    for (const std::string& again : {to_text(*problem), canonical_text(*problem)}) {
      const auto same = parse_problem(again);
      ASSERT_TRUE(same.ok()) << same.status().message();
      EXPECT_EQ(*same, *problem) << again;
    }
  }
  const auto plain = parse_problem("fwd e4m3>bf16 n2 c64 k5 i6x5 f3x3 p1"), scaled = parse_problem(kScaled[0]);
  EXPECT_NE(canonical_text(*plain), canonical_text(*scaled));
  EXPECT_EQ(to_text(*parse_problem("fwd e4m3>fp32 c32 k4 i9 scales=mx")), "fwd e4m3>fp32 n1 c32 k4 i9 f1 scales=mx");
}

TEST(Scales, WhatCannotBeSaysWhy) {
  const struct {
    const char *text, *message;
  } cases[] = {
      {"fwd e4m3>bf16 c48 k8 i8x8 scales=mx",
       "c=48 is no multiple of 32, of which scales=mx have one each; pad the channels with zeros to 64 a group"},
      {"fwd e2m1>bf16 c64 k8 g8 i8x8 scales=nv", "c=64 in 8 groups, 8 each, is no multiple of 16"},
      {"fwd e2m1>bf16 c64 k8 i8x8", "e2m1 numbers have a scale for each block; add scales=mx (of 32) or scales=nv"},
      {"fwd bf16>e2m1 c64 k8 i8x8", "e2m1 numbers have a scale for each block"},
      {"bwd_data e4m3>bf16 c64 k64 i8x8 scales=mx", "scales=mx are of fwd; bwd_data would need them along other"},
      {"bwd_weight e2m1>bf16 c64 k64 i8x8 scales=nv", "scales=nv are of fwd"},
      {"fwd e4m3>bf16 c64 k8 i8x8 NCHW scales=mx", "lie side by side; use NHWC, not NCHW"},
      {"fwd e4m3>bf16 c64 k8 i8x8 scales=nv", "scales=nv belong to e2m1, not e4m3 and e4m3"},
      {"fwd bf16 c64 k8 i8x8 scales=mx", "scales=mx belong to e4m3 and e5m2, or to e2m1 for both inputs, not to bf16"},
      {"fwd e2m1*e4m3>bf16 c64 k8 i8x8 scales=mx", "not to e2m1 and e4m3"},
      {"fwd e4m3 c64 k8 i8x8 scales=mx", "outputs with scales are not made; use bf16, fp16 or fp32, as in e4m3>bf16"},
      {"fwd e4m3>bf16 c64 k8 i8x8 scales=16", "unknown scales '16'; expected mx or nv"},
      {"fwd e4m3>bf16 c64 k8 i8x8 scales=mx scales=mx", "scales"},
      {"fwd e4m3>bf16 n1 c64 k64 g64 i9 f4 pcausal history scales=mx", "history has no scales"},
      {"transposed e4m3>bf16 c64 k64 i8x8 f3x3 s2 scales=mx", "a transposed convolution has no scales of blocks"},
      {"gemm e4m3>bf16 m64 n64 k64 scales=mx", "leave the words of convolutions out"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(message_of(text), HasSubstr(message)) << text;
}

TEST(Scales, E2m1IsItsTable) {
  constexpr float kMagnitudes[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
  for (int code = 0; code < 16; ++code) {
    const float value = code & 8 ? -kMagnitudes[code & 7] : kMagnitudes[code & 7];
    EXPECT_EQ(e2m1_to_float(static_cast<uint8_t>(code)), value);
    EXPECT_EQ(std::signbit(e2m1_to_float(static_cast<uint8_t>(code))), (code & 8) != 0);
    EXPECT_EQ(float_to_e2m1(value), code);
  }
  // The nearest, of two as near the one with an even code.
  for (float value = -8; value <= 8; value += 0.015625f) {
    const uint8_t code = float_to_e2m1(value);
    const float distance = std::fabs(e2m1_to_float(code) - value);
    for (uint8_t other = 0; other < 16; ++other) {
      const float apart = std::fabs(e2m1_to_float(other) - value);
      ASSERT_GE(apart, distance) << value;
      const bool tie = apart == distance && e2m1_to_float(other) != e2m1_to_float(code);
      ASSERT_TRUE(!tie || code % 2 == 0) << value;
    }
  }
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(e2m1_to_float(float_to_e2m1(kInfinity)), 6);
  EXPECT_EQ(e2m1_to_float(float_to_e2m1(-kInfinity)), -6);
  EXPECT_EQ(e2m1_to_float(float_to_e2m1(std::numeric_limits<float>::quiet_NaN())), 6);
}

TEST(Scales, E2m1LiesTwoInAByte) {
  const float values[] = {1, -2, 0.5f, 6};
  uint8_t bytes[2] = {0xff, 0xff};
  from_float(DataType::kE2m1, values, bytes, 4);
  EXPECT_EQ(bytes[0], 0xc2);  // 1 is 2, -2 is 12
  EXPECT_EQ(bytes[1], 0x71);
  float back[4];
  parallel_to_float(DataType::kE2m1, bytes, back, 4);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(back[i], values[i]);
  store(DataType::kE2m1, bytes, 1, 3);  // its neighbour stays
  EXPECT_EQ(load(DataType::kE2m1, bytes, 0), 1);
  EXPECT_EQ(load(DataType::kE2m1, bytes, 1), 3);
}

TEST(Scales, BytesOfScales) {
  EXPECT_EQ(scale_to_float(BlockScales::kMx, 127), 1);
  EXPECT_EQ(scale_to_float(BlockScales::kMx, 0), 0x1p-127f);
  EXPECT_EQ(scale_to_float(BlockScales::kMx, 254), 0x1p127f);
  EXPECT_TRUE(std::isnan(scale_to_float(BlockScales::kMx, 255)));
  EXPECT_EQ(scale_to_float(BlockScales::kNv, 0x38), 1);
  EXPECT_EQ(scale_to_float(BlockScales::kNv, 0x7e), 448);
  EXPECT_EQ(scale_to_float(BlockScales::kNv, 1), 0x1p-9f);
  EXPECT_EQ(scale_to_float(BlockScales::kNone, 3), 1);
}

// The same numbers as fp32, each times its scale, are another problem with the same sums.
TEST(Scales, ReferenceIsThatOfWidenedNumbers) {
  for (const char* text : kScaled) {
    const ConvProblem scaled = *parse_problem(text);
    ConvProblem plain = scaled;
    plain.scales = BlockScales::kNone;
    plain.x = plain.w = DataType::kF32;
    plain.y = DataType::kF32;
    plain.epilogue = {};
    for (const Fill fill : {Fill::kExact, Fill::kRandom}) {
      const HostTensors from = make_tensors(scaled, fill, 5);
      HostTensors wide = make_tensors(plain, fill, 5);
      const auto widen = [&](DataType type, const Buffer& numbers, const Buffer& scales, Buffer& to) {
        for (size_t i = 0; i < to.as<float>().size(); ++i) {
          const uint8_t byte = scales.as<uint8_t>()[i / static_cast<size_t>(scale_block(scaled.scales))];
          to.as<float>()[i] = load(type, numbers.data(), static_cast<int64_t>(i)) * scale_to_float(scaled.scales, byte);
        }
      };
      widen(scaled.x, from.x, from.x_scales, wide.x);
      widen(scaled.w, from.w, from.w_scales, wide.w);
      bool differs = false;
      for (int64_t i = 0; i < scaled.output_elements(); ++i) {
        const ReferenceElement a = reference_element(scaled, from, i), b = reference_element(plain, wide, i);
        ASSERT_NEAR(a.dot, b.dot, 1e-12 * std::sqrt(b.square_sum)) << text << " at " << i;
        ASSERT_EQ(a.terms, b.terms);
        ASSERT_NEAR(a.square_sum, b.square_sum, 1e-9 * b.square_sum);
        differs = differs || a.dot != 0;
      }
      EXPECT_TRUE(differs) << text;
    }
  }
}

TEST(Scales, DataIsExactWhereItIsSmallIntegers) {
  Random random(3);
  int found = 0;
  while (found < 40) {
    const ConvProblem p = random_problem(random, {.max_multiply_adds = 1 << 16, .epilogues = false, .scaled = true});
    if (!p.has_scales()) continue;
    ++found;
    const HostTensors tensors = make_tensors(p, Fill::kExact, 2);
    EXPECT_EQ(tensors.x_scales.size(), static_cast<size_t>(p.x_elements() / scale_block(p.scales)));
    EXPECT_EQ(tensors.w_scales.size(), static_cast<size_t>(p.w_elements() / scale_block(p.scales)));
    EXPECT_EQ(static_cast<int64_t>(tensors.x.size()) * packed_in_byte(p.x), p.x_elements());
    const auto bytes = tensors.w_scales.as<uint8_t>();
    if (bytes.size() > 16) {
      EXPECT_GT(std::set<uint8_t>(bytes.begin(), bytes.end()).size(), 1u);
    }
    for (int64_t i = 0; i < p.output_elements(); ++i) {
      const double value = reference_element(p, tensors, i).value;
      ASSERT_EQ(value, std::round(value));
      ASSERT_EQ(round_to(p.y, value), value) << to_text(p);
    }
  }
}

TEST(Scales, VerifyFindsAScaleOfTheNextBlock) {
  const ConvProblem p = *parse_problem("fwd e4m3>bf16 n2 c128 k16 i6x5 f3x3 p1 scales=mx");
  HostTensors tensors = make_tensors(p, Fill::kExact, 3);
  reference(p, tensors);
  EXPECT_TRUE(verify(p, tensors, {.model = {.exact = true}}).passed());
  HostTensors shifted = make_tensors(p, Fill::kExact, 3);
  const auto bytes = shifted.x_scales.as<uint8_t>();
  std::rotate(bytes.begin(), bytes.begin() + 1, bytes.end());
  reference(p, shifted);
  tensors.y = shifted.y.copy();
  EXPECT_FALSE(verify(p, tensors, {.model = {.exact = true}}).passed());
}

}  // namespace
}  // namespace wt
