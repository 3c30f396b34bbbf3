// SPDX-License-Identifier: Apache-2.0
#include "problem/tensor_data.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "problem/number.h"
#include "problem/random_problem.h"
#include "problem/reference.h"

namespace wt {
namespace {

bool same_bytes(const Buffer& a, const Buffer& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

TEST(TensorData, ScaleAndBiasInTypesOfTheirOwn) {
  const ConvProblem p = *parse_problem("bwd_data fp16>fp32 n2 c3 k5 i7 f3 p1 +scale=bf16+bias=fp16");
  for (const Fill fill : {Fill::kExact, Fill::kRandom}) {
    const HostTensors t = make_tensors(p, fill);
    ASSERT_EQ(t.scale.size(), 3u * 2);
    ASSERT_EQ(t.bias.size(), 3u * 2);
    for (int64_t i = 0; i < 3; ++i) {
      EXPECT_GE(std::fabs(load(DataType::kBf16, t.scale.data(), i)), 0.5f);
      EXPECT_LE(std::fabs(load(DataType::kBf16, t.scale.data(), i)), 2.0f);
      EXPECT_LE(std::fabs(load(DataType::kF16, t.bias.data(), i)), 8.0f);
    }
  }
}

TEST(TensorData, SizesRolesAndPoison) {
  const ConvProblem p = *parse_problem("bwd_data fp16>fp32 n2 c3 k5 i7 f3 p1 +scale+bias+residual+amax");
  const HostTensors t = make_tensors(p, Fill::kRandom);
  EXPECT_EQ(t.x.size(), 2u * 3 * 7 * 4);
  EXPECT_EQ(t.w.size(), 5u * 3 * 3 * 2);
  EXPECT_EQ(t.y.size(), 2u * 5 * 7 * 2);
  EXPECT_EQ(t.scale.size(), 3u * 4);
  EXPECT_EQ(t.bias.size(), 3u * 4);
  EXPECT_EQ(t.residual.size(), t.x.size());
  EXPECT_EQ(t.amax.size(), 4u);
  EXPECT_EQ(&output_of(p, t), &t.x);
  for (int64_t i = 0; i < p.x_elements(); ++i) {
    EXPECT_TRUE(is_poison(p.x, t.x.data(), i));
    EXPECT_TRUE(std::isnan(load(p.x, t.x.data(), i)));
    EXPECT_FALSE(std::isnan(load(p.x, t.residual.data(), i)));
  }
  for (int64_t i = 0; i < p.y_elements(); ++i) EXPECT_FALSE(is_poison(p.y, t.y.data(), i));
  EXPECT_TRUE(std::isnan(t.amax.as<float>()[0]));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(t.w.data()) % 256, 0u);
  EXPECT_TRUE(make_tensors(*parse_problem("fwd bf16 c4 k4 i8"), Fill::kExact).bias.empty());
}

TEST(TensorData, PoisonIsNanInEveryType) {
  Buffer buffer(64);
  poison(buffer);
  for (int t = 0; t <= static_cast<int>(DataType::kE5m2); ++t) {
    EXPECT_TRUE(std::isnan(load(static_cast<DataType>(t), buffer.data(), 1)));
    EXPECT_TRUE(is_poison(static_cast<DataType>(t), buffer.data(), 1));
  }
  buffer.as<uint8_t>()[7] = 0x7f;
  EXPECT_FALSE(is_poison(DataType::kF32, buffer.data(), 1));
  EXPECT_TRUE(is_poison(DataType::kF32, buffer.data(), 2));
}

TEST(TensorData, SeedsDecide) {
  const ConvProblem p = *parse_problem("fwd bf16 n2 c16 k8 i20x20 f3x3 +bias+residual");
  for (const Fill fill : {Fill::kExact, Fill::kRandom}) {
    const HostTensors a = make_tensors(p, fill, 1), b = make_tensors(p, fill, 1), c = make_tensors(p, fill, 2);
    EXPECT_TRUE(same_bytes(a.x, b.x) && same_bytes(a.w, b.w) && same_bytes(a.bias, b.bias));
    EXPECT_FALSE(same_bytes(a.x, c.x));
    EXPECT_FALSE(same_bytes(a.w, c.w));
    EXPECT_FALSE(same_bytes(a.bias, c.bias));
    EXPECT_FALSE(same_bytes(a.residual, c.residual));
  }
}

TEST(TensorData, ExactSumsAreExactInTheOutput) {
  Random random(17);
  RandomLimits limits;
  limits.epilogues = false;
  limits.max_multiply_adds = 200000;
  int64_t elements = 0, inexact = 0, nonzero = 0;
  for (int round = 0; round < 300; ++round) {
    ConvProblem p = random_problem(random, limits);
    p.y_zero = 0;  // which moves sums out of int8
    const HostTensors t = make_tensors(p, Fill::kExact, static_cast<uint64_t>(round));
    for (int64_t i = 0; i < p.output_elements(); i += 7) {
      const double value = reference_element(p, t, i).value;
      ASSERT_EQ(value, std::round(value));
      inexact += round_to(p.output_type(), value) != value;
      nonzero += value != 0;
      ++elements;
    }
  }
  EXPECT_EQ(inexact, 0) << "of " << elements;
  EXPECT_GT(nonzero, elements / 3);
}

TEST(TensorData, ExactDataIsSignedAndDenseWhereItCanBe) {
  const ConvProblem p = *parse_problem("bwd_weight bf16 n4 c16 k16 i32x32 f3x3 p1");
  const HostTensors t = make_tensors(p, Fill::kExact);
  int64_t positive = 0, negative = 0;
  for (int64_t i = 0; i < p.x_elements(); ++i) {
    positive += load(p.x, t.x.data(), i) > 0;
    negative += load(p.x, t.x.data(), i) < 0;
  }
  EXPECT_GT(positive, p.x_elements() / 10);
  EXPECT_GT(negative, p.x_elements() / 10);
}

TEST(TensorData, RandomDataMakesOutputsOfAboutOne) {
  for (const char* text : {"fwd bf16 n2 c64 k32 i12x12 f3x3 p1", "fwd fp16 n1 c8 k8 i40",
                           "bwd_weight fp32 n4 c8 k8 i20x20 f3x3", "fwd e5m2>bf16 n2 c64 k32 i12x12 f3x3"}) {
    const ConvProblem p = *parse_problem(text);
    const HostTensors t = make_tensors(p, Fill::kRandom, 5);
    double squares = 0, sum = 0;
    for (int64_t i = 0; i < p.output_elements(); ++i) {
      const double v = reference_element(p, t, i).value;
      squares += v * v;
      sum += v;
    }
    const double count = static_cast<double>(p.output_elements());
    EXPECT_GT(std::sqrt(squares / count), 0.5) << text;
    EXPECT_LT(std::sqrt(squares / count), 2.0) << text;
    EXPECT_LT(std::fabs(sum / count), 0.3) << text;
  }
}

TEST(TensorData, KnowsWhichEpiloguesRound) {
  const auto exact = [](const char* steps) {
    return epilogue_is_exact(*parse_problem(std::string("fwd bf16 c4 k4 i8 ") + steps));
  };
  EXPECT_TRUE(exact(""));
  EXPECT_TRUE(exact("+alpha=0.5+scale+bias+residual=2+relu+amax"));
  EXPECT_TRUE(exact("+leaky_relu=0.25"));
  EXPECT_TRUE(exact("+clamp"));
  EXPECT_FALSE(exact("+alpha=0.1"));
  EXPECT_FALSE(exact("+residual=0.3"));
  EXPECT_FALSE(exact("+leaky_relu"));
  EXPECT_FALSE(exact("+gelu"));
}

TEST(TensorData, BuffersMoveAndCopy) {
  Buffer a(8);
  a.as<int64_t>()[0] = 42;
  Buffer b = std::move(a);
  EXPECT_EQ(b.as<int64_t>()[0], 42);
  const Buffer c = b.copy();
  b.as<int64_t>()[0] = 1;
  EXPECT_EQ(c.as<int64_t>()[0], 42);
  EXPECT_EQ(Buffer().copy().size(), 0u);
}

}  // namespace
}  // namespace wt
