// SPDX-License-Identifier: Apache-2.0
// A matrix product against its own definition: rows of A by columns of B, in every form and order of batches.
#include "problem/gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "problem/number.h"
#include "problem/random.h"
#include "problem/reference.h"

namespace wt {
namespace {

std::vector<float> floats(DataType type, const Buffer& buffer) {
  std::vector<float> values(buffer.size() / static_cast<size_t>(size_of(type)));
  to_float(type, buffer.data(), values.data(), static_cast<int64_t>(values.size()));
  return values;
}

const Buffer& buffer_of(const HostTensors& tensors, ConvTensor tensor) {
  return tensor == ConvTensor::kX ? tensors.x : tensor == ConvTensor::kW ? tensors.w : tensors.y;
}

// Where the element (row, column) of a batch lies in a matrix of rows x columns.
size_t index_of(bool interleaved, int64_t batches, int64_t rows, int64_t columns, int64_t batch, int64_t row,
                int64_t column) {
  return static_cast<size_t>(interleaved ? (row * batches + batch) * columns + column
                                         : (batch * rows + row) * columns + column);
}

// The convolution's reference against three loops, on small integers, bit for bit.
void expect_definition(const GemmProblem& g) {
  const Result<ConvProblem> problem = to_convolution(g);
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  SCOPED_TRACE(to_text(*problem) + " is " + canonical_text(*problem));
  HostTensors tensors = make_tensors(*problem, Fill::kExact, 7);
  reference(*problem, tensors);
  const GemmRoles roles = roles_of(g);
  const std::vector<float> a = floats(g.a, buffer_of(tensors, roles.a)), b = floats(g.b, buffer_of(tensors, roles.b)),
                           d = floats(g.d, buffer_of(tensors, roles.d));
  ASSERT_EQ(a.size(), static_cast<size_t>(g.batch * g.m * g.k));
  ASSERT_EQ(b.size(), static_cast<size_t>(g.batch * g.n * g.k));
  ASSERT_EQ(d.size(), static_cast<size_t>(g.batch * g.m * g.n));
  // The matrix that is the filter of the convolution is stacked in any case.
  const auto interleaved = [&](ConvTensor tensor) { return g.interleaved && tensor != ConvTensor::kW; };
  for (int64_t batch = 0; batch < g.batch; ++batch) {
    for (int64_t row = 0; row < g.m; ++row) {
      for (int64_t column = 0; column < g.n; ++column) {
        double sum = 0;
        for (int64_t i = 0; i < g.k; ++i) {
          const bool across_a = g.form == GemmForm::kTn, along_b = g.form == GemmForm::kNt;
          const size_t at_a = across_a ? index_of(interleaved(roles.a), g.batch, g.k, g.m, batch, i, row)
                                       : index_of(interleaved(roles.a), g.batch, g.m, g.k, batch, row, i);
          const size_t at_b = along_b ? index_of(interleaved(roles.b), g.batch, g.n, g.k, batch, column, i)
                                      : index_of(interleaved(roles.b), g.batch, g.k, g.n, batch, i, column);
          sum += double{a[at_a]} * b[at_b];
        }
        ASSERT_EQ(d[index_of(interleaved(roles.d), g.batch, g.m, g.n, batch, row, column)], sum)
            << batch << ": " << row << ", " << column;
      }
    }
  }
}

constexpr GemmForm kForms[] = {GemmForm::kNt, GemmForm::kNn, GemmForm::kTn};

TEST(Gemm, FollowsItsDefinition) {
  for (const GemmForm form : kForms) {
    for (const int64_t batch : {1, 3}) {
      for (const bool interleaved : {false, true}) {
        GemmProblem g{.form = form, .m = 5, .n = 7, .k = 4, .batch = batch, .interleaved = interleaved};
        g.d = DataType::kF32;
        expect_definition(g);
        g = {.form = form,
             .a = DataType::kE4m3,
             .b = DataType::kE5m2,
             .d = DataType::kF32,
             .m = 3,
             .n = 2,
             .k = 6,
             .batch = batch,
             .interleaved = interleaved};
        expect_definition(g);
      }
    }
  }
}

TEST(Gemm, HasItsOwnText) {
  const auto text = [](const char* given) {
    const Result<ConvProblem> problem = parse_problem(given);
    EXPECT_TRUE(problem.ok()) << problem.status().message();
    return problem.ok() ? to_text(*problem) : "";
  };
  for (const char* same : {"gemm bf16 m512 n1024 k768", "gemm bf16 m512 n1024 k768 b4", "gemm bf16 m5 n6 k7 b4 nn",
                           "gemm fp16>fp32 m5 n6 k7 tn", "gemm e4m3*e5m2>bf16 m8 n16 k32 b2 tn +alpha=0.5",
                           "gemm bf16 m5 n6 k7 b4 nn interleaved +bias+relu", "gemm tf32 m1 n1 k1",
                           "gemm bf16 m512 n1024 k768 b4 +residual+add=1:0.5+gelu"})
    EXPECT_EQ(text(same), same);
  EXPECT_EQ(text("k3 interleaved gemm n2 b1 nt m4 fp32"), "gemm fp32 m4 n2 k3");
  // What it is computed as; such a convolution is printed as the product that it is.
  EXPECT_EQ(canonical_text(*parse_problem("gemm bf16 m512 n1024 k768")),
            "v1 fwd bf16*bf16>bf16 acc=fp32 NWC n1 c768 k1024 g1 i512 f1 s1 p0:0 d1 +alpha=1");
  EXPECT_EQ(canonical_text(*parse_problem("gemm bf16 m5 n6 k7 b4 nn")),
            "v1 fwd bf16*bf16>bf16 acc=fp32 NCW n1 c28 k20 g4 i6 f1 s1 p0:0 d1 +alpha=1");
  EXPECT_EQ(text("fwd bf16 c768 k1024 i512"), "gemm bf16 m512 n1024 k768");
  EXPECT_EQ(text("bwd_weight e4m3*e5m2>fp32 c6 k4 i9"), "gemm e5m2*e4m3>fp32 m4 n6 k9 tn");
  // Not one: several images, a bias by rows, another layout of one product, a bias gradient.
  for (const char* other : {"fwd bf16 n2 c8 k8 i8 f1", "bwd_weight bf16 n1 c8 k8 i8 f1 +bias",
                            "fwd bf16 n1 c8 k8 i8 f1 NCW", "bwd_weight bf16 n1 c8 k8 i8 f1 bias_gradient",
                            "fwd bf16 n0 c8 k8 i8 f1", "fwd bf16 n1 c8 k8 i8 f1 p1", "fwd bf16 n1 c8 k8 i8x1 f1x1"})
    EXPECT_EQ(text(other), other);
}

TEST(Gemm, RandomProductsComeBack) {
  Random random(11);
  for (int i = 0; i < 500; ++i) {
    GemmProblem g;
    g.form = kForms[random.between(0, 2)];
    g.a = g.b = g.d = random.pick({DataType::kBf16, DataType::kF16, DataType::kF32});
    g.m = random.between(1, 4000), g.n = random.between(1, 4000), g.k = random.between(1, 4000);
    g.batch = random.chance(0.5) ? 1 : random.between(2, 64);
    g.interleaved = g.batch > 1 && random.chance(0.5);
    if (random.chance(0.3)) g.epilogue.added = 2, g.epilogue.betas = {1, 0.5f};
    const Result<ConvProblem> problem = to_convolution(g);
    ASSERT_TRUE(problem.ok()) << problem.status().message();
    EXPECT_EQ(to_gemm(*problem), g);
    const Result<ConvProblem> again = parse_problem(to_text(*problem));
    ASSERT_TRUE(again.ok()) << to_text(*problem);
    EXPECT_EQ(*again, *problem);
    EXPECT_EQ(problem->flops(), 2.0 * static_cast<double>(g.batch * g.m * g.n * g.k));
  }
}

TEST(Gemm, FaultsSayWhatHelps) {
  const std::pair<const char*, const char*> faults[] = {
      {"gemm bf16 n4 k4", "expected m, the rows of D"},
      {"gemm bf16 m4 k4", "expected n, the columns of D"},
      {"gemm bf16 m4 n4", "expected k, the numbers that each element of D sums"},
      {"gemm m4 n4 k4", "expected a type"},
      {"gemm bf16 m0 n4 k4", "m=0 of a gemm must be at least 1"},
      {"gemm bf16 m4 n4 k4 b-1", "b=-1 of a gemm must be at least 1"},
      {"gemm bf16 m4 n4 k4 i8", "column 20: a product of matrices has no pixels"},
      {"gemm bf16 m4 n4 k4 g2", "leave the words of convolutions out"},
      {"gemm bf16 m4 n4 k4 NHWC", "leave the words of convolutions out"},
      {"gemm bf16 m4 n4 k4 psame", "leave the words of convolutions out"},
      {"gemm bf16 m4 n4 k4 tt", "exchange them, m and n"},
      {"gemm bf16 m4 n4 k4 nt nn", "the form was given already"},
      {"gemm bf16 m4 m5 n4 k4", "the count m was given already"},
      {"gemm bf16 m4x n4 k4", "expected a space: m takes one number"},
      {"gemm fwd bf16 m4 n4 k4", "the direction was given already"},
      {"fwd bf16 c4 k4 i8 m4", "column 19: this word belongs to a product of matrices"},
      {"fwd bf16 c4 k4 i8 nn", "this word belongs to a product of matrices"},
      {"gemm bf16 m4 n4 k4 tn +bias", "scale and bias run over the columns of D, which form tn has no kernel for"},
      {"gemm bf16 m4 n4 k4 b2 +scale", "form nt with stacked batches has no kernel for"},
      {"gemm bf16 m4 n9223372036854775807 k4 b3", "has more than 2^63 - 1 elements"},
      {"gemm bf16*fp16>bf16 m4 n4 k4", "cannot be multiplied"},
  };
  for (const auto& [text, message] : faults) {
    const Result<ConvProblem> problem = parse_problem(text);
    ASSERT_FALSE(problem.ok()) << text;
    EXPECT_THAT(problem.status().message(), testing::HasSubstr(message)) << text;
  }
}

}  // namespace
}  // namespace wt
