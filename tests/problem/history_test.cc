// SPDX-License-Identifier: Apache-2.0
#include "problem/history.h"

#include <gtest/gtest.h>

#include <cmath>

#include "problem/channel_sums.h"
#include "problem/number.h"
#include "problem/random_problem.h"
#include "problem/verify.h"

namespace wt {
namespace {

ConvProblem parsed(std::string_view text) {
  const Result<ConvProblem> result = parse_problem(text);
  EXPECT_TRUE(result.ok()) << result.status().message();
  return result.ok() ? *result : ConvProblem{};
}

TEST(History, IsTheConvolutionOverBothJoined) {
  for (const char* text : {"fwd bf16 n2 c6 k6 g6 i5 f4 pcausal history new_history +bias+silu",
                           "fwd fp32 n3 c4 k6 g2 i2 f3 d2 pcausal history new_history NCW",
                           "fwd bf16 n2 c6 k5 i4x5 f3x2 s2x1 pcausal history new_history",
                           "fwd fp16 n2 c4 k4 g2 i3x4x5 f2x3x3 d2x1x1 pcausal history new_history NCDHW"}) {
    SCOPED_TRACE(text);
    const ConvProblem problem = parsed(text), joined = joined_problem(problem);
    EXPECT_TRUE(validate(joined).ok());
    EXPECT_EQ(joined.out(), problem.out());
    HostTensors tensors = make_tensors(problem, Fill::kExact), both = make_tensors(joined, Fill::kExact);
    copy_joined(problem, tensors.history.data(), tensors.x.data(), 0, joined.in[joined.time()], both.x.data());
    both.w = tensors.w.copy();
    reference(problem, tensors);
    reference(joined, both);
    EXPECT_TRUE(std::ranges::equal(tensors.y.as<std::byte>(), both.y.as<std::byte>())) << text;

    // The next call's history is the end of the joined image; one that is wrong is found.
    EXPECT_FALSE(new_history_fault(problem, tensors).empty());
    Buffer& next = tensors.new_history;
    copy_joined(problem, tensors.history.data(), tensors.x.data(), problem.in[problem.time()], problem.history_length(),
                next.data());
    EXPECT_EQ(new_history_fault(problem, tensors), "");
    EXPECT_TRUE(verify(problem, tensors, {.model = {.exact = true}}).passed());
    next.data()[next.size() - 1] ^= std::byte{1};
    EXPECT_NE(verify(problem, tensors, {.model = {.exact = true}}).summary().find("new_history["), std::string::npos);
    next.data()[next.size() - 1] ^= std::byte{1};

    // In place: what is read of the history has not been written over.
    const Buffer right = next.copy();
    copy_joined(problem, tensors.history.data(), tensors.x.data(), problem.in[problem.time()], problem.history_length(),
                tensors.history.data());
    EXPECT_TRUE(std::ranges::equal(tensors.history.as<std::byte>(), right.as<std::byte>())) << text;
  }
}

const char* const kGradients[] = {"bf16 n2 c6 k6 g6 i5 f4", "fp32 n3 c4 k6 g2 i2 f3 d2 NCW",
                                  "fp16 n2 c6 k5 i4x5 f3x2 s2x1", "bf16 n2 c4 k4 g2 i3x4x5 f2x3x3 d2x1x1 NCDHW",
                                  "fp32 n1 c3 k2 i7 f3 s3"};

// Its gradient and that of x are what backward data of both joined gives.
TEST(History, HasTheGradientOfTheJoinedImage) {
  for (const char* sizes : kGradients) {
    SCOPED_TRACE(sizes);
    const ConvProblem problem = parsed(fmt::format("bwd_data {} pcausal history +alpha=0.5", sizes));
    const ConvProblem joined = joined_problem(problem);
    HostTensors tensors = make_tensors(problem, Fill::kExact), both = make_tensors(joined, Fill::kExact);
    both.y = tensors.y.copy(), both.w = tensors.w.copy();
    reference(joined, both);
    reference(problem, tensors);
    const Rows rows = rows_of_x(joined);
    const int64_t length = problem.history_length(), now = rows.rows - length;
    EXPECT_NE(history_gradient_fault(problem, tensors, {}), "");
    int64_t other = 0;
    for (int64_t i = 0; i < rows.images * rows.rows * rows.elements; ++i) {
      const int64_t image = i / (rows.rows * rows.elements), row = i / rows.elements % rows.rows;
      const int64_t element = i % rows.elements;
      const float value = load(problem.x, both.x.data(), i);
      if (row < length) {
        const int64_t at = (image * length + row) * rows.elements + element;
        EXPECT_EQ(history_gradient_element(problem, tensors, at).value, value);
        store(problem.x, tensors.history.data(), at, value);
        other += value != 0;
      } else {
        EXPECT_EQ(load(problem.x, tensors.x.data(), (image * now + row - length) * rows.elements + element), value);
      }
    }
    EXPECT_GT(other, 0);
    EXPECT_TRUE(verify(problem, tensors, {.model = {.exact = true}}).passed());
    tensors.history.data()[0] ^= std::byte{0x40};
    EXPECT_NE(verify(problem, tensors, {.model = {.exact = true}}).summary().find("history[0] is"), std::string::npos);
  }
}

// The gradient of the new history is added to the last rows of both.
TEST(History, PassesTheGradientOfTheNewOne) {
  for (const char* sizes : kGradients) {
    if (!parse_problem(fmt::format("bwd_data {} pcausal history new_history", sizes)).ok()) continue;
    SCOPED_TRACE(sizes);
    const ConvProblem problem = parsed(fmt::format("bwd_data {} pcausal history new_history", sizes));
    ConvProblem plain = problem;
    plain.new_history = false;
    const HostTensors tensors = make_tensors(problem, Fill::kExact);
    const Rows rows = rows_of_x(problem);
    const int64_t length = problem.history_length();
    double added = 0, given = 0, size = 0;
    for (int64_t i = 0; i < problem.x_elements(); ++i) {
      const double more = reference_element(problem, tensors, i).value - reference_element(plain, tensors, i).value;
      added += more;
      const bool early = i / rows.elements % rows.rows < rows.rows - length;
      EXPECT_TRUE(!early || more == 0) << i;
    }
    for (int64_t i = 0; i < problem.history_elements(); ++i) {
      added += history_gradient_element(problem, tensors, i).value - history_gradient_element(plain, tensors, i).value;
      given += load(problem.x, tensors.new_history.data(), i);
      size += std::fabs(load(problem.x, tensors.new_history.data(), i));
    }
    EXPECT_EQ(added, given);
    EXPECT_GT(size, 0);
  }
}

TEST(History, IsPartOfTheWeightGradient) {
  for (const char* sizes : kGradients) {
    SCOPED_TRACE(sizes);
    const ConvProblem problem = parsed(fmt::format("bwd_weight {} pcausal history", sizes));
    const ConvProblem joined = joined_problem(problem);
    HostTensors tensors = make_tensors(problem, Fill::kExact), both = make_tensors(joined, Fill::kExact);
    copy_joined(problem, tensors.history.data(), tensors.x.data(), 0, joined.in[joined.time()], both.x.data());
    both.y = tensors.y.copy();
    reference(problem, tensors);
    reference(joined, both);
    EXPECT_TRUE(std::ranges::equal(tensors.w.as<std::byte>(), both.w.as<std::byte>()));
  }
}

// The rows that the history meets are problems of their own.
TEST(History, IsMetByTheFirstRows) {
  const ConvProblem forward = parsed("fwd bf16 n2 c6 k5 i12x5 f4x2 s2x1 d2x1 pcausal history");
  EXPECT_EQ(history_outputs(forward), 3);
  EXPECT_EQ(to_text(first_rows_problem(forward)), "fwd bf16 n2 c6 k5 i11x5 f4x2 s2x1 p0x0:1 d2x1");
  ConvProblem data = parsed("bwd_data bf16 n2 c6 k5 i12x5 f4x2 s2x1 d2x1 pcausal history");
  EXPECT_EQ(first_rows_problem(data).in[1], 6);
  EXPECT_EQ(first_rows_problem(data).out(), (Spatial{1, 3, 5}));
  data.in[1] = 1;  // one output
  EXPECT_EQ(history_outputs(data), 1);
  EXPECT_EQ(first_rows_problem(data).out(), (Spatial{1, 1, 5}));
  Random random(3);
  for (int i = 0; i < 2000; ++i) {
    const ConvProblem p = random_problem(random, {.history = true});
    const ConvProblem first = first_rows_problem(p);
    EXPECT_TRUE(validate(first).ok()) << to_text(p) << ": " << validate(first).message();
    EXPECT_EQ(first.out()[p.time()], history_outputs(p)) << to_text(p);
    EXPECT_TRUE(validate(without_history(p)).ok()) << to_text(p);
  }
}

TEST(History, RoundTripsAndIsRefusedElsewhere) {
  const ConvProblem problem = parsed("fwd bf16 n2 c8 k8 g8 i16 f4 pcausal history new_history +silu");
  EXPECT_EQ(to_text(problem), "fwd bf16 n2 c8 k8 g8 i16 f4 p3:0 history new_history +silu");
  EXPECT_EQ(parsed(canonical_text(problem)), problem);
  const std::pair<const char*, const char*> faults[] = {
      {"fwd bf16 c8 k8 i16 f4 p3 history", "the place of causal padding, 3:0 along w here, not 3:3; use pcausal"},
      {"fwd bf16 c8 k8 i16x16 f4x4 p3 history", "3:0 along h here, not 3:3; use pcausal"},
      {"fwd bf16 c8 k8 i15 f4 s2 pcausal history new_history", "would begin 1 rows before its first row's"},
      {"fwd bf16 c8 k8 i16 f1 history", "a filter of size 1 along w reaches no history"},
      {"fwd bf16 c8 k8 i16x16x16 f1x3x3 p0x1x1 history", "a filter of size 1 along d reaches no history"},
      {"bwd_weight bf16 c8 k8 i16 f4 pcausal history new_history", "leave it out of bwd_weight"},
      {"bwd_weight bf16 c8 k8 i16 f4 pcausal history bias_gradient=x", "no gradients of a transposed convolution"},
      {"bwd_data bf16 c8 k8 i16 f4 pcausal history new_history +grad_relu", "only alpha, residual and add"},
      {"fwd bf16 c8 k8 i16 f4 pcausal new_history", "add history"},
      {"fwd bf16 c8 k8 i16 f4 pcausal history history", "given already"},
      {"fwd bf16 c8 k8 i16 bias_gradient", "bias_gradient belongs to bwd_weight"},
  };
  for (const auto& [text, part] : faults) {
    const Result<ConvProblem> result = parse_problem(text);
    EXPECT_NE(result.status().message().find(part), std::string::npos) << text << ": " << result.status().message();
  }
}

TEST(ChannelSums, AddEveryImageAndPixel) {
  for (const char* text :
       {"bwd_weight bf16 n3 c4 k17 i9x5 f3x3 bias_gradient", "bwd_weight fp32 n2 c3 k4 i7 f2 NCW bias_gradient=x"}) {
    const ConvProblem problem = parsed(text);
    HostTensors tensors = make_tensors(problem, Fill::kExact);
    const bool of_x = problem.bias_gradient == BiasGradient::kOfX;
    const Buffer& data = of_x ? tensors.x : tensors.y;
    const Strides strides = of_x ? x_strides(problem) : y_strides(problem);
    const Spatial size = of_x ? problem.in : problem.out();
    const ChannelTensor tensor = bias_gradient_tensor(problem, problem.bias_gradient);
    const std::vector<ChannelSum> sums = channel_sums(tensor, data.data());
    ASSERT_EQ(static_cast<int64_t>(sums.size()), problem.bias_gradient_channels());
    for (size_t c = 0; c < sums.size(); ++c) {
      double right = 0;
      for (int64_t n = 0; n < problem.n; ++n) {
        for (int64_t h = 0; h < size[1]; ++h) {
          for (int64_t w = 0; w < size[2]; ++w)
            right += load(tensor.type, data.data(), strides.at(n, static_cast<int64_t>(c), {0, h, w}));
        }
      }
      EXPECT_EQ(sums[c].total, right) << text << " channel " << c;
      tensors.bias_gradient.as<float>()[c] = static_cast<float>(right);
    }
    EXPECT_EQ(bias_gradient_fault(problem, tensors, {.exact = true}), "");
    tensors.bias_gradient.as<float>()[1] += 1;
    EXPECT_NE(bias_gradient_fault(problem, tensors, {.exact = true}).find("bias_gradient[1]"), std::string::npos);
  }
}

}  // namespace
}  // namespace wt
