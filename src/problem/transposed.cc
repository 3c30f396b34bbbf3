// SPDX-License-Identifier: Apache-2.0
#include "problem/transposed.h"

#include <algorithm>

namespace wt {
namespace {

constexpr const char* kDimNames[] = {"d", "h", "w"};

Status check_counts(const TransposedConv& t) {
  if (t.dims < 1 || t.dims > kMaxDims) {
    return bad_input("dims={} is not 1, 2 or 3; a transposed convolution has one to three spatial dimensions", t.dims);
  }
  if (t.pass > Direction::kBackwardWeight) {
    return bad_input(
        "pass {} of a transposed convolution does not exist; use forward, backward data or backward weight",
        static_cast<int>(t.pass));
  }
  if (t.n < 0) return bad_input("n={} is negative; use 0 for an empty batch or a positive batch size", t.n);
  if (t.g < 1) return bad_input("g={} must be at least 1; use g1 for a dense transposed convolution", t.g);
  if (t.c < 1 || t.c % t.g != 0) {
    return bad_input("c={} input channels of the transposed convolution must be a positive multiple of g={}", t.c, t.g);
  }
  if (t.k < 1 || t.k % t.g != 0) {
    return bad_input("k={} output channels of the transposed convolution must be a positive multiple of g={}", t.k,
                     t.g);
  }
  if (t.bias_gradient && t.pass != Direction::kBackwardWeight) {
    return bad_input("bias_gradient belongs to the backward weight pass, which reads the output's gradient");
  }
  return {};
}

Status check_dimension(const TransposedConv& t, int i) {
  const char* d = kDimNames[i];
  const std::pair<const char*, int64_t> positive[] = {
      {"input size", t.in[i]}, {"filter size", t.filter[i]}, {"stride", t.stride[i]}, {"dilation", t.dilation[i]}};
  for (const auto& [name, value] : positive) {
    if (value < 1) return bad_input("{} {}={} of a transposed convolution must be at least 1", name, d, value);
  }
  const std::pair<const char*, int64_t> paddings[] = {
      {"lower padding", t.pad_lower[i]}, {"upper padding", t.pad_upper[i]}, {"output_padding", t.output_padding[i]}};
  for (const auto& [name, value] : paddings) {
    if (value < 0) return bad_input("{} {}={} of a transposed convolution is negative; use 0 or more", name, d, value);
  }
  return {};
}

// Pixels of output_padding that the convolution's floor division does not swallow, taken from its upper padding.
int64_t excess(const TransposedConv& t, int i) { return std::max<int64_t>(0, t.output_padding[i] - t.stride[i] + 1); }

Status check_output(const TransposedConv& t, int i, int64_t size) {
  const char* d = kDimNames[i];
  if (size < 1) {
    return bad_input(
        "the output of the transposed convolution has no pixels: {} = ({} - 1) * {} - {} - {} + {} * ({} - 1) + 1 + {} "
        "= {}; use less padding, a larger input or filter, or more output_padding",
        d, t.in[i], t.stride[i], t.pad_lower[i], t.pad_upper[i], t.dilation[i], t.filter[i], t.output_padding[i], size);
  }
  if (excess(t, i) > t.pad_upper[i]) {
    return bad_input(
        "output_padding {}={} with stride {} and an upper padding of {}: output_padding only chooses among the output "
        "sizes that share this input size, so use at most {}",
        d, t.output_padding[i], t.stride[i], t.pad_upper[i], t.stride[i] - 1 + t.pad_upper[i]);
  }
  return {};
}

}  // namespace

std::optional<Spatial> TransposedConv::output_size() const {
  Spatial size;
  for (int i = 0; i < kMaxDims; ++i) {
    int64_t steps = 0, reach = 0, sum = 0;
    if (__builtin_mul_overflow(in[i] - 1, stride[i], &steps) ||
        __builtin_mul_overflow(filter[i] - 1, dilation[i], &reach) || __builtin_add_overflow(steps, reach, &sum) ||
        __builtin_add_overflow(sum, 1, &sum) || __builtin_add_overflow(sum, output_padding[i], &sum) ||
        __builtin_sub_overflow(sum, pad_lower[i], &sum) || __builtin_sub_overflow(sum, pad_upper[i], &sum)) {
      return std::nullopt;
    }
    size[i] = sum;
  }
  return size;
}

Result<ConvProblem> to_convolution(const TransposedConv& t) {
  WT_TRY(check_counts(t));
  const int first = kMaxDims - t.dims;
  for (int i = first; i < kMaxDims; ++i) WT_TRY(check_dimension(t, i));
  const std::optional<Spatial> size = t.output_size();
  if (!size) {
    return bad_input(
        "the output size of the transposed convolution does not fit in 64 bits; use a smaller input, "
        "stride or filter");
  }
  for (int i = first; i < kMaxDims; ++i) WT_TRY(check_output(t, i, (*size)[i]));

  ConvProblem p;
  p.direction = t.pass == Direction::kForward        ? Direction::kBackwardData
                : t.pass == Direction::kBackwardData ? Direction::kForward
                                                     : Direction::kBackwardWeight;
  p.dims = t.dims;
  p.layout = t.layout;
  p.x = t.output;
  p.w = t.w;
  p.y = t.input;
  p.acc = t.acc;
  p.n = t.n;
  p.g = t.g;
  p.c = t.k;
  p.k = t.c;
  p.in = *size;
  p.filter = t.filter;
  p.stride = t.stride;
  p.dilation = t.dilation;
  p.pad_lower = t.pad_lower;
  p.pad_upper = t.pad_upper;
  for (int i = first; i < kMaxDims; ++i) p.pad_upper[i] -= excess(t, i);
  p.epilogue = t.epilogue;
  if (t.bias_gradient) p.bias_gradient = BiasGradient::kOfX;
  WT_TRY(validate(p));
  return p;
}

}  // namespace wt
