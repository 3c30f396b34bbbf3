// SPDX-License-Identifier: Apache-2.0
#include "problem/history.h"

#include <gtest/gtest.h>

#include "problem/channel_sums.h"
#include "problem/number.h"
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
                           "fwd fp32 n3 c4 k6 g2 i2 f3 d2 pcausal history new_history NCW"}) {
    const ConvProblem problem = parsed(text), joined = joined_problem(problem);
    EXPECT_TRUE(validate(joined).ok());
    EXPECT_EQ(joined.out(), problem.out());
    HostTensors tensors = make_tensors(problem, Fill::kExact), both = make_tensors(joined, Fill::kExact);
    copy_joined(problem, tensors.history.data(), tensors.x.data(), 0, joined.in[2], both.x.data());
    both.w = tensors.w.copy();
    reference(problem, tensors);
    reference(joined, both);
    EXPECT_TRUE(std::ranges::equal(tensors.y.as<std::byte>(), both.y.as<std::byte>())) << text;

    // The next call's history is the end of the joined image; one that is wrong is found.
    EXPECT_FALSE(new_history_fault(problem, tensors).empty());
    Buffer& next = tensors.new_history;
    copy_joined(problem, tensors.history.data(), tensors.x.data(), problem.in[2], problem.history_length(),
                next.data());
    EXPECT_EQ(new_history_fault(problem, tensors), "");
    EXPECT_TRUE(verify(problem, tensors, {.model = {.exact = true}}).passed());
    next.data()[next.size() - 1] ^= std::byte{1};
    EXPECT_NE(verify(problem, tensors, {.model = {.exact = true}}).summary().find("new_history["), std::string::npos);
    next.data()[next.size() - 1] ^= std::byte{1};

    // In place: what is read of the history has not been written over.
    const Buffer right = next.copy();
    copy_joined(problem, tensors.history.data(), tensors.x.data(), problem.in[2], problem.history_length(),
                tensors.history.data());
    EXPECT_TRUE(std::ranges::equal(tensors.history.as<std::byte>(), right.as<std::byte>())) << text;
  }
}

TEST(History, RoundTripsAndIsRefusedElsewhere) {
  const ConvProblem problem = parsed("fwd bf16 n2 c8 k8 g8 i16 f4 pcausal history new_history +silu");
  EXPECT_EQ(to_text(problem), "fwd bf16 n2 c8 k8 g8 i16 f4 p3:0 history new_history +silu");
  EXPECT_EQ(parsed(canonical_text(problem)), problem);
  const std::pair<const char*, const char*> faults[] = {
      {"fwd bf16 c8 k8 i16 f4 p3 history", "stands in the place of causal padding, 3:0 here, not 3:3; use pcausal"},
      {"fwd bf16 c8 k8 i16x16 f4x4 pcausal history", "one-dimensional"},
      {"fwd bf16 c8 k8 i16 f4 s2 pcausal history", "history needs stride 1, not 2"},
      {"fwd bf16 c8 k8 i16 f1 history", "reaches no history"},
      {"bwd_data bf16 c8 k8 i16 f4 pcausal history", "history belongs to fwd"},
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
