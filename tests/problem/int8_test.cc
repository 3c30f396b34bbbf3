// SPDX-License-Identifier: Apache-2.0
// int8 by its formula: zero points, padding, rounding and saturation, on numbers worked out by hand.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "problem/number.h"
#include "problem/verify.h"

namespace wt {
namespace {

ConvProblem problem_of(const std::string& text) {
  const auto problem = parse_problem(text);
  EXPECT_TRUE(problem.ok()) << text << ": " << problem.status().message();
  return *problem;
}

template <class T>
void fill(Buffer& buffer, std::initializer_list<T> values) {
  ASSERT_EQ(buffer.size(), values.size() * sizeof(T));
  std::ranges::copy(values, buffer.as<T>().begin());
}

TEST(Int8, TextsComeBack) {
  for (const char* text : {"fwd int8 n2 c8 k16 i9x9 f3x3 p1 x_zero=-128 y_zero=127 +scale+bias+relu",
                           "fwd int8>fp32 n2 c8 k16 i9x9 f3x3 p1 x_zero=3", "fwd int8 n1 c8 k16 i4 f1 y_zero=-1"}) {
    const ConvProblem problem = problem_of(text);
    EXPECT_EQ(to_text(problem), text);
    EXPECT_EQ(problem_of(canonical_text(problem)), problem);
    EXPECT_NE(canonical_text(problem).find("_zero="), std::string::npos);  // another zero point is another key
  }
  EXPECT_EQ(to_text(problem_of("fwd int8>int8 n1 c8 k16 i9x9 f3x3")), "fwd int8 n1 c8 k16 i9x9 f3x3");
}

// A filter of ones over three pixels: at the borders two of them count, and padding is the zero point, which is 0.
TEST(Int8, PaddingIsTheZeroPoint) {
  const ConvProblem p = problem_of("fwd int8*int8>fp32 n1 c1 k1 i4 f3 p1 x_zero=10");
  HostTensors tensors = make_tensors(p, Fill::kZero);
  fill<int8_t>(tensors.x, {10, 11, 13, -128});
  fill<int8_t>(tensors.w, {1, 1, 127});
  reference(p, tensors);
  const auto y = tensors.y.as<float>();
  EXPECT_EQ(std::vector<float>(y.begin(), y.end()),
            (std::vector<float>{127, 0 + 1 + 127 * 3, 1 + 3 + 127 * -138, 3 - 138}));
}

// v = 0.5 x: halves go to the even neighbour, before the zero point is added; beyond int8 they are held.
TEST(Int8, RoundsToEvenThenMovesThenSaturates) {
  const ConvProblem p = problem_of("fwd int8 n1 c1 k1 i8 f1 y_zero=1 +scale");
  HostTensors tensors = make_tensors(p, Fill::kZero);
  fill<int8_t>(tensors.x, {1, 3, 5, -1, -3, 127, -128, 0});
  fill<int8_t>(tensors.w, {1});
  fill<float>(tensors.scale, {0.5f});
  reference(p, tensors);
  const auto at = [&](size_t i) { return int{tensors.y.as<int8_t>()[i]}; };
  EXPECT_EQ(at(0), 0 + 1);
  EXPECT_EQ(at(1), 2 + 1);
  EXPECT_EQ(at(2), 2 + 1);
  EXPECT_EQ(at(3), 0 + 1);
  EXPECT_EQ(at(4), -2 + 1);
  EXPECT_EQ(at(5), 64 + 1);
  EXPECT_EQ(at(6), -64 + 1);
  fill<float>(tensors.scale, {1.0f});
  reference(p, tensors);
  EXPECT_EQ(at(5), 127);
  EXPECT_EQ(at(6), -127);
  fill<float>(tensors.scale, {-1.5f});
  reference(p, tensors);
  EXPECT_EQ(at(5), -128);
  EXPECT_EQ(at(6), 127);
}

// The sum becomes fp32, which rounds 2^24 + 1; product and bias each round once more: 12345 * 0.1f rounds to 1234.5,
// and a fused form would keep what that drops.
TEST(Int8, EveryStepRoundsByItself) {
  const ConvProblem large = problem_of("fwd int8*int8>fp32 n1 c1025 k1 i1 f1");
  HostTensors tensors = make_tensors(large, Fill::kZero);
  auto x = tensors.x.as<int8_t>(), w = tensors.w.as<int8_t>();
  std::ranges::fill(x, -128);
  std::ranges::fill(w, -128);
  x[1024] = w[1024] = 1;
  reference(large, tensors);
  EXPECT_EQ(tensors.y.as<float>()[0], 16777216.0f);

  const ConvProblem scaled = problem_of("fwd int8*int8>fp32 n1 c2 k1 i1 f1 +scale+bias");
  tensors = make_tensors(scaled, Fill::kZero);
  fill<int8_t>(tensors.x, {127, 26});
  fill<int8_t>(tensors.w, {97, 1});
  fill<float>(tensors.scale, {0.1f});
  fill<float>(tensors.bias, {-1234.5f});
  reference(scaled, tensors);
  EXPECT_EQ(tensors.y.as<float>()[0], 0.0f);
  EXPECT_NE(std::fma(12345.0f, 0.1f, -1234.5f), 0.0f);
}

TEST(Int8, NumbersRoundAndSaturate) {
  const std::pair<float, int> values[] = {{0.5f, 0},       {1.5f, 2},    {-2.5f, -2},       {127.4f, 127}, {128, 127},
                                          {-128.6f, -128}, {1e30f, 127}, {-INFINITY, -128}, {NAN, 0}};
  for (const auto& [value, right] : values) EXPECT_EQ(float_to_int8(value), right) << value;
  for (int i = -128; i < 128; ++i) EXPECT_EQ(round_to(DataType::kI8, static_cast<float>(i)), i);
}

// What is off by one is found, in every output type, and random data reaches both ends of int8.
TEST(Int8, VerificationIsToTheBit) {
  for (const char* text :
       {"fwd int8 n1 c64 k16 i9x9 f3x3 p1 x_zero=7 y_zero=-9 +scale+bias", "fwd int8 n1 c64 k16 i9x9 f3x3",
        "fwd int8*int8>fp16 n1 c64 k16 i9x9 f3x3 p1", "fwd int8*int8>bf16 n1 c9 k16 i9x9 f3x3 p1 +scale",
        "fwd int8*int8>fp32 n1 c64 k16 i9x9 f3x3 p1 x_zero=-3 +scale+leaky_relu=0.1"}) {
    const ConvProblem p = problem_of(text);
    HostTensors tensors = make_tensors(p, Fill::kRandom);
    reference(p, tensors);
    EXPECT_TRUE(verify(p, tensors).passed()) << text;
    const float was = load(p.y, tensors.y.data(), 100);
    auto bytes = tensors.y.as<uint8_t>();
    bytes[static_cast<size_t>(100 * size_of(p.y))] ^= 1;  // the last bit of the number
    EXPECT_EQ(verify(p, tensors).wrong, 1) << text << " " << was;
    std::set<float> seen;
    for (int64_t i = 0; i < p.y_elements(); ++i) seen.insert(load(p.y, tensors.y.data(), i));
    EXPECT_GT(seen.size(), p.y == DataType::kI8 ? 60u : 300u) << text;
  }
  std::set<int8_t> x;
  const HostTensors tensors = make_tensors(problem_of("fwd int8 n1 c64 k16 i32x32 f3x3 +scale"), Fill::kRandom);
  for (const int8_t value : tensors.x.as<int8_t>()) x.insert(value);
  EXPECT_TRUE(x.contains(127) && x.contains(-128));
}

// An activation that is an approximation may end at a neighbour, where its error crosses a half, and nowhere else.
TEST(Int8, ApproximateActivationsMayCrossAHalf) {
  const ConvProblem p = problem_of("fwd int8 n1 c1 k1 i1 f1 +silu");
  ReferenceElement element;
  element.activated = 2.4999999;
  element.value = 2;
  EXPECT_EQ(error_bound(p, element, {}), 1);
  element.activated = 2.3;
  EXPECT_EQ(error_bound(p, element, {}), 0);
  const ConvProblem exact = problem_of("fwd int8 n1 c1 k1 i1 f1 +clamp=0:6");
  element.activated = 2.4999999;
  EXPECT_EQ(error_bound(exact, element, {}), 0);
}

}  // namespace
}  // namespace wt
