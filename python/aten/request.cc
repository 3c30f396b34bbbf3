// SPDX-License-Identifier: Apache-2.0
#include "python/aten/request.h"

#include <algorithm>

namespace wt::aten {
namespace {

// (in - 1) * stride - pads + reach + 1 + output_padding, or its inverse for a convolution
int64_t output_size(const Request& q, size_t i) {
  const int64_t reach = q.dilation[i] * (q.filter[i] - 1) + 1;
  if (q.transposed) return (q.in[i] - 1) * q.stride[i] - q.lower[i] - q.upper[i] + reach + q.output_padding[i];
  return (q.in[i] + q.lower[i] + q.upper[i] - reach) / q.stride[i] + 1;
}

bool spread(const Sizes& values, size_t dims, std::array<int64_t, 3>& out) {
  if (values.size() != 1 && values.size() != dims) return false;
  for (size_t i = 0; i < dims; ++i) out[i] = values.size() == 1 ? values[0] : values[i];
  return true;
}

Sizes with_spatial(int64_t first, int64_t second, const std::array<int64_t, 3>& spatial, int64_t dims) {
  Sizes sizes = {first, second};
  sizes.insert(sizes.end(), spatial.begin(), spatial.begin() + dims);
  return sizes;
}

}  // namespace

Sizes Request::output_sizes() const {
  std::array<int64_t, 3> size{};
  for (size_t i = 0; i < static_cast<size_t>(dims); ++i) size[i] = output_size(*this, i);
  return with_spatial(n, k, size, dims);
}

Sizes Request::input_sizes() const { return with_spatial(n, c, in, dims); }

Sizes Request::weight_sizes() const {
  return transposed ? with_spatial(c, k / groups, filter, dims) : with_spatial(k, c / groups, filter, dims);
}

std::string describe(const Sizes& x, const Sizes& w, const Shape& shape, Request& q) {
  if (x.size() != w.size() || x.size() < 3 || x.size() > 5) return "shapes that do not fit together";
  const size_t dims = x.size() - 2;
  q.dims = static_cast<int64_t>(dims);
  q.transposed = shape.transposed;
  q.groups = shape.groups;
  if (!spread(shape.stride, dims, q.stride) || !spread(shape.lower, dims, q.lower) ||
      !spread(shape.upper, dims, q.upper) || !spread(shape.dilation, dims, q.dilation)) {
    return "lists of another length than the dimensions";
  }
  if (shape.transposed && !spread(shape.output_padding, dims, q.output_padding)) {
    return "lists of another length than the dimensions";
  }
  if (q.groups <= 0) return "no groups";
  q.n = x[0];
  q.c = x[1];
  q.k = shape.transposed ? w[1] * q.groups : w[0];
  const int64_t expected = shape.transposed ? w[0] : w[1] * q.groups;
  if (q.c != expected || q.c % q.groups != 0 || q.k % q.groups != 0) return "shapes that do not fit together";
  for (const Sizes* sizes : {&x, &w}) {
    if (std::find(sizes->begin(), sizes->end(), 0) != sizes->end()) return "empty tensors";
  }
  for (size_t i = 0; i < dims; ++i) {
    q.in[i] = x[2 + i];
    q.filter[i] = w[2 + i];
    if (q.stride[i] < 1 || q.dilation[i] < 1 || q.lower[i] < 0 || q.upper[i] < 0) return "a stride or padding below 0";
    const int64_t reach = q.dilation[i] * (q.filter[i] - 1) + 1;
    if (!q.transposed && q.in[i] + q.lower[i] + q.upper[i] < reach) return "a filter that is larger than its input";
    if (output_size(q, i) < 1) return "an output without pixels";
  }
  return {};
}

Request for_pass(const Request& request, Pass pass) {
  Request other = request;
  other.pass = static_cast<int64_t>(pass);
  if (pass != Pass::kForward) other.bias = other.bias_type = other.residual = other.activation = 0;
  if (pass != Pass::kWeightGradient) other.bias_gradient = 0;
  int64_t& result = pass == Pass::kForward ? other.y_type : pass == Pass::kInputGradient ? other.x_type : other.w_type;
  if (result == WAVETILE_TF32) result = WAVETILE_F32;
  return other;
}

int32_t type_of(int32_t dtype) {
  static const std::array<int32_t, 6> known = {
      torch().aoti_torch_dtype_float32(),       -1,
      torch().aoti_torch_dtype_float16(),       torch().aoti_torch_dtype_bfloat16(),
      torch().aoti_torch_dtype_float8_e4m3fn(), torch().aoti_torch_dtype_float8_e5m2()};
  const auto found = std::find(known.begin(), known.end(), dtype);
  return found == known.end() ? -1 : static_cast<int32_t>(found - known.begin());
}

void set_bias(Request& request, int32_t dtype) {
  const int32_t type = type_of(dtype);
  request.bias = 1;
  request.bias_type = type == WAVETILE_F16 || type == WAVETILE_BF16 ? type : WAVETILE_F32;
}

int32_t dtype_of(int64_t type) {
  switch (type) {
    case WAVETILE_F16:
      return torch().aoti_torch_dtype_float16();
    case WAVETILE_BF16:
      return torch().aoti_torch_dtype_bfloat16();
    case WAVETILE_E4M3:
      return torch().aoti_torch_dtype_float8_e4m3fn();
    case WAVETILE_E5M2:
      return torch().aoti_torch_dtype_float8_e5m2();
    default:
      return torch().aoti_torch_dtype_float32();
  }
}

wavetile_status make_problem(const Request& q, wavetile_problem** problem) {
  wavetile_problem_desc desc;
  wavetile_problem_desc_init(&desc);
  desc.direction =
      q.pass == static_cast<int64_t>(Pass::kBiasGradient) ? WAVETILE_BACKWARD_WEIGHT : static_cast<int32_t>(q.pass);
  desc.dims = static_cast<int32_t>(q.dims);
  desc.layout = q.last ? WAVETILE_CHANNELS_LAST : WAVETILE_CHANNELS_FIRST;
  desc.x_type = static_cast<int32_t>(q.x_type);
  desc.w_type = static_cast<int32_t>(q.w_type);
  desc.y_type = static_cast<int32_t>(q.y_type);
  desc.n = q.n;
  desc.g = q.groups;
  desc.c = q.c;
  desc.k = q.k;
  for (size_t i = 0; i < static_cast<size_t>(q.dims); ++i) {
    desc.in[i] = q.in[i];
    desc.filter[i] = q.filter[i];
    desc.stride[i] = q.stride[i];
    desc.dilation[i] = q.dilation[i];
    desc.pad_lower[i] = q.lower[i];
    desc.pad_upper[i] = q.upper[i];
  }
  desc.bias = static_cast<int32_t>(q.bias);
  desc.bias_type = static_cast<int32_t>(q.bias_type);
  desc.residual = static_cast<int32_t>(q.residual);
  desc.activation = static_cast<int32_t>(q.activation);
  desc.slope = static_cast<float>(q.slope);
  desc.low = static_cast<float>(q.low);
  desc.high = static_cast<float>(q.high);
  desc.bias_gradient = q.bias_gradient ? WAVETILE_BIAS_GRADIENT_OF_Y : WAVETILE_BIAS_GRADIENT_NONE;
  desc.history = static_cast<int32_t>(q.history);
  desc.new_history = static_cast<int32_t>(q.new_history);
  if (q.transposed) return wavetile_problem_create_transposed(&desc, q.output_padding.data(), problem);
  return wavetile_problem_create(&desc, problem);
}

}  // namespace wt::aten
