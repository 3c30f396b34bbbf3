// SPDX-License-Identifier: Apache-2.0
// A transposed convolution against its own definition: every input pixel is spread over the output.
#include "problem/transposed.h"

#include <gtest/gtest.h>

#include <functional>

#include "problem/number.h"
#include "problem/reference.h"

namespace wt {
namespace {

using Visit = std::function<void(int64_t input, int64_t w, int64_t output)>;

int64_t pixel_of(const Spatial& at, const Spatial& size) { return (at[0] * size[1] + at[1]) * size[2] + at[2]; }
int64_t product(const Spatial& size) { return size[0] * size[1] * size[2]; }

// Memory index of (outer, channel, pixel) in an image of `channels` x `pixels`.
int64_t index_of(Layout layout, int64_t outer, int64_t channel, int64_t pixel, int64_t channels, int64_t pixels) {
  return layout == Layout::kChannelsLast ? (outer * pixels + pixel) * channels + channel
                                         : (outer * channels + channel) * pixels + pixel;
}

// output[n, co, h * stride - pad + r * dilation] += input[n, ci, h] * w[ci, co of the group, r], by memory indices.
void spread(const TransposedConv& t, const Spatial& size, const Visit& visit) {
  const int64_t group_in = t.c / t.g, group_out = t.k / t.g;
  const auto each = [](const Spatial& sizes, const std::function<void(const Spatial&)>& body) {
    for (int64_t i = 0; i < product(sizes); ++i) {
      body({i / (sizes[1] * sizes[2]), i / sizes[2] % sizes[1], i % sizes[2]});
    }
  };
  for (int64_t n = 0; n < t.n; ++n) {
    for (int64_t ci = 0; ci < t.c; ++ci) {
      for (int64_t co = 0; co < group_out; ++co) {
        each(t.in, [&](const Spatial& h) {
          each(t.filter, [&](const Spatial& r) {
            Spatial to;
            for (size_t i = 0; i < 3; ++i) {
              to[i] = h[i] * t.stride[i] - t.pad_lower[i] + r[i] * t.dilation[i];
              if (to[i] < 0 || to[i] >= size[i]) return;
            }
            visit(index_of(t.layout, n, ci, pixel_of(h, t.in), t.c, product(t.in)),
                  index_of(t.layout, ci, co, pixel_of(r, t.filter), group_out, product(t.filter)),
                  index_of(t.layout, n, ci / group_in * group_out + co, pixel_of(to, size), t.k, product(size)));
          });
        });
      }
    }
  }
}

std::vector<float> floats(DataType type, const Buffer& buffer) {
  std::vector<float> values(buffer.size() / static_cast<size_t>(size_of(type)));
  to_float(type, buffer.data(), values.data(), static_cast<int64_t>(values.size()));
  return values;
}

// The convolution's reference against the spreading loop, on small integers, bit for bit.
void expect_definition(const TransposedConv& t) {
  const Result<ConvProblem> problem = to_convolution(t);
  ASSERT_TRUE(problem.ok()) << problem.status().message();
  ASSERT_TRUE(t.output_size().has_value());
  const Spatial size = *t.output_size();
  EXPECT_EQ(problem->in, size);
  EXPECT_EQ(problem->out(), t.in);
  HostTensors tensors = make_tensors(*problem, Fill::kExact, 7);
  reference(*problem, tensors);
  // y is the transposed convolution's input, x its output.
  const std::vector<float> input = floats(t.input, tensors.y), w = floats(t.w, tensors.w),
                           output = floats(t.output, tensors.x);
  const std::vector<float>& got = t.pass == Direction::kForward        ? output
                                  : t.pass == Direction::kBackwardData ? input
                                                                       : w;
  std::vector<double> right(got.size());
  spread(t, size, [&](int64_t i, int64_t f, int64_t o) {
    const auto in = static_cast<size_t>(i), tap = static_cast<size_t>(f), out = static_cast<size_t>(o);
    if (t.pass == Direction::kForward) right[out] += double{input[in]} * w[tap];
    if (t.pass == Direction::kBackwardData) right[in] += double{output[out]} * w[tap];
    if (t.pass == Direction::kBackwardWeight) right[tap] += double{input[in]} * output[out];
  });
  for (size_t i = 0; i < got.size(); ++i) ASSERT_EQ(got[i], right[i]) << to_text(*problem) << " at " << i;
}

TEST(Transposed, FollowsItsDefinition) {
  TransposedConv plane;
  plane.n = 2, plane.g = 2, plane.c = 6, plane.k = 4;
  plane.in = {1, 4, 3}, plane.filter = {1, 3, 2}, plane.stride = {1, 2, 3}, plane.dilation = {1, 1, 2};
  plane.pad_lower = {0, 1, 0}, plane.pad_upper = {0, 2, 1}, plane.output_padding = {0, 1, 2};
  TransposedConv line;
  line.dims = 1, line.layout = Layout::kChannelsFirst, line.input = line.w = DataType::kF16,
  line.output = DataType::kF16;
  line.c = 3, line.k = 5, line.in = {1, 1, 5}, line.filter = {1, 1, 4}, line.stride = {1, 1, 2};
  line.pad_lower = line.pad_upper = {0, 0, 1};
  TransposedConv deep;  // more output padding than the stride, taken from the upper padding
  deep.dims = 3, deep.input = deep.w = deep.output = DataType::kF32;
  deep.c = 2, deep.k = 3, deep.in = {2, 2, 3}, deep.filter = {2, 3, 2}, deep.stride = {2, 1, 1};
  deep.pad_upper = {0, 1, 1}, deep.output_padding = {1, 1, 0};
  for (TransposedConv t : {plane, line, deep}) {
    for (const Direction pass : {Direction::kForward, Direction::kBackwardData, Direction::kBackwardWeight}) {
      t.pass = pass;
      expect_definition(t);
    }
  }
}

TEST(Transposed, HasItsOwnText) {
  // PyTorch's ConvTranspose2d(64, 32, 3, stride=2, padding=1, output_padding=1) on 14x14.
  const Result<ConvProblem> forward = parse_problem("transposed bf16 n8 c64 k32 i14x14 f3x3 s2 p1 o1 +bias+relu");
  ASSERT_TRUE(forward.ok()) << forward.status().message();
  EXPECT_EQ(to_text(*forward), "bwd_data bf16 n8 c32 k64 i28x28 f3x3 s2 p1 +bias+relu");
  EXPECT_EQ(forward->output_channels(), 32);  // of the bias
  const Result<ConvProblem> data = parse_problem("transposed_bwd_data bf16>fp32 n8 c64 k32 i14x14 f3x3 s2 p1 o1");
  ASSERT_TRUE(data.ok()) << data.status().message();
  EXPECT_EQ(to_text(*data), "fwd bf16>fp32 n8 c32 k64 i28x28 f3x3 s2 p1");
  const Result<ConvProblem> weight =
      parse_problem("transposed_bwd_weight e4m3*e5m2>bf16 n8 c64 k32 i14x14 f3x3 s2 p1 o1 bias_gradient");
  ASSERT_TRUE(weight.ok()) << weight.status().message();
  // The input's type stands first, which is the convolution's dy.
  EXPECT_EQ(to_text(*weight), "bwd_weight e5m2*e4m3>bf16 n8 c32 k64 i28x28 f3x3 s2 p1 bias_gradient=x");
  EXPECT_EQ(weight->bias_gradient_channels(), 32);
  const Result<ConvProblem> again = parse_problem(canonical_text(*weight));
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(*again, *weight);
}

TEST(Transposed, RefusesInItsOwnWords) {
  const auto message = [](std::string_view text) { return std::string(parse_problem(text).status().message()); };
  const std::pair<const char*, const char*> faults[] = {
      {"transposed bf16 c8 k8 i8x8 f3x3 s2 o2", "output_padding h=2 with stride 2 and an upper padding of 0"},
      {"transposed bf16 c8 k8 i8x8 f3x3 s2 o2", "use at most 1"},
      {"transposed bf16 c8 k8 i1x1 f3x3 p2", "h = (1 - 1) * 1 - 2 - 2 + 1 * (3 - 1) + 1 + 0 = -1"},
      {"transposed bf16 c9 k8 g2 i8x8", "c=9 input channels of the transposed convolution"},
      {"transposed bf16 c8 k9 g2 i8x8", "k=9 output channels of the transposed convolution"},
      {"transposed bf16 c8 k8 i8x8 s0", "stride h=0 of a transposed convolution must be at least 1"},
      {"transposed bf16 c8 k8 i8x8 o-1", "output_padding h=-1 of a transposed convolution is negative"},
      {"transposed bf16 c8 k8 i8x8 f3x3 psame", "given as numbers"},
      {"transposed bf16 c8 k8 i8 f3 history", "no history"},
      {"transposed bf16 c8 k8 i8 f3 bias_gradient", "belongs to the backward weight pass"},
      {"transposed bf16 c8 k8 i9223372036854775807 s9", "does not fit in 64 bits"},
      {"transposed_fwd bf16 c8 k8 i8", "expected transposed, transposed_bwd_data or transposed_bwd_weight"},
      {"transposed fwd bf16 c8 k8 i8", "the direction was given already"},
      {"fwd bf16 c8 k8 i8 o1", "output padding belongs to transposed"},
  };
  for (const auto& [text, part] : faults) EXPECT_NE(message(text).find(part), std::string::npos) << message(text);
}

}  // namespace
}  // namespace wt
