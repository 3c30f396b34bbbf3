// SPDX-License-Identifier: Apache-2.0
// The bounds hold for what hardware does (other orders, truncation, tf32, few bits) and are not much wider than that.
#include "problem/tolerance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "problem/number.h"
#include "problem/random.h"

namespace wt {
namespace {

// Sums as a matrix unit might: `chunk` products at a time, each step cut to `bits` of fraction towards zero.
double truncated_sum(const std::vector<double>& products, size_t chunk, int bits) {
  double sum = 0;
  for (size_t i = 0; i < products.size(); i += chunk) {
    for (size_t j = i; j < std::min(products.size(), i + chunk); ++j) sum += products[j];
    int power = 0;
    const double fraction = std::frexp(sum, &power);
    sum = std::ldexp(std::trunc(std::ldexp(fraction, bits + 1)), power - bits - 1);
  }
  return sum;
}

float sequential_sum(const std::vector<double>& products, size_t splits) {
  float total = 0;
  const size_t part = (products.size() + splits - 1) / splits;
  for (size_t i = 0; i < products.size(); i += part) {
    float sum = 0;
    for (size_t j = i; j < std::min(products.size(), i + part); ++j) sum += static_cast<float>(products[j]);
    total += sum;
  }
  return total;
}

// Three products of tf32 parts over 8 terms, the small ones first, each sum truncated: fp32 on Hopper's matrix unit.
double sum_of_parts(const std::vector<std::pair<float, float>>& factors) {
  const auto high = [](float v) { return std::bit_cast<float>(std::bit_cast<uint32_t>(v) & ~0x1fffu); };
  double sum = 0;
  for (size_t i = 0; i < factors.size(); i += 8) {
    for (const int part : {0, 1, 2}) {
      std::vector<double> products{sum};
      for (size_t j = i; j < std::min(factors.size(), i + 8); ++j) {
        const auto [a, b] = factors[j];
        const double x = part == 0 ? a - high(a) : high(a), y = part == 1 ? b - high(b) : high(b);
        products.push_back(x * y);
      }
      sum = truncated_sum(products, products.size(), 23);
    }
  }
  return sum;
}

struct Sample {
  std::vector<double> products;
  std::vector<std::pair<float, float>> factors;
  ReferenceElement element;
};

Sample make_sample(Random& random, DataType type, size_t terms) {
  Sample s;
  const auto draw = [&] { return round_to(type, static_cast<float>(random.real() * 4 - 2)); };
  for (size_t i = 0; i < terms; ++i) {
    s.factors.emplace_back(draw(), draw());
    s.products.push_back(static_cast<double>(s.factors.back().first) * s.factors.back().second);
    s.element.dot += s.products.back();
    s.element.square_sum += s.products.back() * s.products.back();
  }
  s.element.terms = static_cast<int64_t>(terms);
  s.element.value = s.element.before = s.element.dot;
  s.element.magnitude = std::fabs(s.element.dot);
  return s;
}

ConvProblem problem_of(const char* type) { return *parse_problem(std::string("fwd ") + type + " c4 k4 i8"); }

TEST(Tolerance, HoldsForOtherOrdersAndTruncation) {
  Random random(1);
  for (const size_t terms : {1u, 9u, 64u, 576u, 4608u, 50000u}) {
    for (int round = 0; round < 40; ++round) {
      const Sample half = make_sample(random, DataType::kBf16, terms);
      const ConvProblem p = problem_of("bf16>fp32");
      const double bound = sum_bound(p, half.element, {});
      ASSERT_LE(std::fabs(sequential_sum(half.products, 1) - half.element.dot), bound) << terms;
      ASSERT_LE(std::fabs(truncated_sum(half.products, 16, 23) - half.element.dot), bound) << terms;
      ASSERT_LE(std::fabs(sequential_sum(half.products, 7) - half.element.dot),
                sum_bound(p, half.element, {.splits = 7}))
          << terms;
      const Sample fp8 = make_sample(random, DataType::kE4m3, terms);
      ASSERT_LE(std::fabs(truncated_sum(fp8.products, 32, 13) - fp8.element.dot),
                sum_bound(problem_of("e4m3>fp32"), fp8.element, {}))
          << terms;
      const Sample single = make_sample(random, DataType::kF32, terms);
      ASSERT_LE(std::fabs(sequential_sum(single.products, 1) - single.element.dot),
                sum_bound(problem_of("fp32"), single.element, {}))
          << terms;
      ASSERT_LE(std::fabs(sum_of_parts(single.factors) - single.element.dot),
                sum_bound(problem_of("fp32"), single.element, {}))
          << terms;
      double tf32 = 0;
      for (const auto& [a, b] : single.factors) {
        const auto cut = [](float v) { return std::bit_cast<float>(std::bit_cast<uint32_t>(v) & ~0x1fffu); };
        tf32 += static_cast<double>(cut(a)) * cut(b);
      }
      ASSERT_LE(std::fabs(tf32 - single.element.dot), sum_bound(problem_of("tf32"), single.element, {})) << terms;
    }
  }
}

// One product of typical size left out, or taken twice, must show while it is larger than the output's own step.
TEST(Tolerance, SeesOneMissingProduct) {
  Random random(2);
  for (const size_t terms : {9u, 64u, 576u, 4608u}) {
    const Sample s = make_sample(random, DataType::kBf16, terms);
    const double typical = std::sqrt(s.element.square_sum / static_cast<double>(terms));
    EXPECT_LT(sum_bound(problem_of("bf16>fp32"), s.element, {}) * 20, typical) << terms;
  }
}

// An output that was computed as tf32 instead of fp32 must show within its first thousand elements.
TEST(Tolerance, TellsFp32FromTf32) {
  Random random(3);
  for (const size_t terms : {9u, 64u, 576u, 4608u}) {
    int seen = 0;
    for (int i = 0; i < 1000; ++i) {
      const Sample s = make_sample(random, DataType::kF32, terms);
      double error = 0;
      for (const auto& [a, b] : s.factors) {
        const auto rounded = [](float v) {
          return std::bit_cast<float>((std::bit_cast<uint32_t>(v) + 0x1000u) & ~0x1fffu);
        };
        error += static_cast<double>(rounded(a)) * rounded(b) - static_cast<double>(a) * b;
      }
      seen += std::fabs(error) > sum_bound(problem_of("fp32"), s.element, {});
    }
    EXPECT_GT(seen, 10) << terms;
  }
}

// The partial sums of positive numbers are larger than those of signed ones.
TEST(Tolerance, HoldsForPositiveNumbers) {
  Random random(4);
  for (const size_t terms : {9u, 64u, 576u, 4608u, 50000u}) {
    for (int round = 0; round < 40; ++round) {
      Sample s = make_sample(random, DataType::kF32, terms);
      s.element.dot = 0;
      for (auto& [a, b] : s.factors) {
        a = std::fabs(a), b = std::fabs(b);
        s.element.dot += static_cast<double>(a) * b;
      }
      ASSERT_LE(std::fabs(sum_of_parts(s.factors) - s.element.dot), sum_bound(problem_of("fp32"), s.element, {}))
          << terms;
    }
  }
}

TEST(Tolerance, ExactDataHasNone) {
  ReferenceElement e{.dot = 100, .square_sum = 1e6, .terms = 1000, .before = 100, .magnitude = 100, .value = 100};
  EXPECT_EQ(error_bound(problem_of("bf16"), e, {.exact = true}), 0);
  const ConvProblem exact = *parse_problem("fwd bf16 c4 k4 i8 +alpha=0.5+scale+bias+relu");
  EXPECT_EQ(error_bound(exact, e, {.exact = true}), 0);
  // An epilogue that rounds leaves its own error, not the sum's.
  const ConvProblem gelu = *parse_problem("fwd bf16 c4 k4 i8 +gelu");
  EXPECT_GT(error_bound(gelu, e, {.exact = true}), 0);
  EXPECT_LT(error_bound(gelu, e, {.exact = true}), 1e-3);
  EXPECT_LT(error_bound(gelu, e, {.exact = true}), error_bound(gelu, e, {}));
}

TEST(Tolerance, GrowsWithGainAndSlope) {
  ReferenceElement e{.dot = 1, .square_sum = 1, .terms = 100, .before = 1, .magnitude = 1, .value = 1};
  const double plain = error_bound(problem_of("bf16"), e, {});
  e.gain = 3;
  EXPECT_DOUBLE_EQ(error_bound(problem_of("bf16"), e, {}), 3 * plain);
  e.gain = 1;
  const ConvProblem steep = *parse_problem("fwd bf16 c4 k4 i8 +leaky_relu=4");
  EXPECT_GT(error_bound(steep, e, {}), 3.9 * plain);
}

TEST(Tolerance, WithinCountsTheOutputsRounding) {
  // 1 + 2^-9 rounds to 1 in bf16; the next number, 1 + 2^-7, is a step too far unless the bound reaches the tie.
  EXPECT_TRUE(within(DataType::kBf16, 1 + 0x1p-9, 0, 1.0f));
  EXPECT_FALSE(within(DataType::kBf16, 1 + 0x1p-9, 0, 1 + 0x1p-7f));
  EXPECT_TRUE(within(DataType::kBf16, 1 + 0x1p-9, 0x1p-8, 1 + 0x1p-7f));
  EXPECT_FALSE(within(DataType::kF32, 1.0, 0, std::nextafter(1.0f, 2.0f)));
  EXPECT_TRUE(within(DataType::kF32, 0.0, 0, -0.0f));
  EXPECT_FALSE(within(DataType::kF32, 1.0, 1e30, NAN));
  EXPECT_FALSE(within(DataType::kF32, NAN, 1e30, 1.0f));
}

TEST(Tolerance, TheShareIsAtMostOneExactlyWithinTheBound) {
  EXPECT_EQ(share_of_bound(DataType::kBf16, 1 + 0x1p-9, 0, 1.0f), 0);
  EXPECT_EQ(share_of_bound(DataType::kBf16, 1 + 0x1p-9, 0x1p-8, 1 + 0x1p-7f), 1);  // a flip of the output's rounding
  EXPECT_DOUBLE_EQ(share_of_bound(DataType::kF32, 1.0, 0x1p-10, 1 + 0x1p-12f), 0.25);
  EXPECT_EQ(share_of_bound(DataType::kF16, 65519, 10, INFINITY), 1);
  for (const DataType type : {DataType::kF32, DataType::kBf16, DataType::kF16, DataType::kE4m3}) {
    for (const double expected : {0.0, 1.0, -1.003, 3e-9, 447.0, 65519.0, 1e6}) {
      for (const double bound : {0.0, 1e-6, 1e-3, 0.5, 100.0}) {
        for (const double value : {0.0, 1.0, 1.0078125, -1.0, 447.0, 448.0, 65504.0, 1e6, double{INFINITY}}) {
          const auto got = static_cast<float>(round_to(type, value));  // outputs are numbers of their type
          EXPECT_EQ(share_of_bound(type, expected, bound, got) <= 1, within(type, expected, bound, got))
              << name_of(type) << " " << expected << " " << bound << " " << got;
        }
      }
    }
  }
}

TEST(Tolerance, OverflowAndSaturationAreValues) {
  EXPECT_TRUE(within(DataType::kF16, 1e6, 0, INFINITY));
  EXPECT_FALSE(within(DataType::kF16, 1e6, 0, 65504.0f));
  EXPECT_FALSE(within(DataType::kF16, 60000, 1, INFINITY));
  EXPECT_TRUE(within(DataType::kE4m3, 1e6, 0, 448.0f));
  EXPECT_FALSE(within(DataType::kE4m3, -1e6, 0, 448.0f));
  EXPECT_FALSE(within(DataType::kBf16, 1e6, 0, INFINITY));
}

}  // namespace
}  // namespace wt
