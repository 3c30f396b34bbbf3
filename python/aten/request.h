// SPDX-License-Identifier: Apache-2.0
// python/aten/request.h - one pass of one convolution as torch asks for it, in the terms of its own tensors.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

#include "python/aten/tensor.h"
#include "wavetile/wavetile.h"

namespace wt::aten {

enum class Pass : int32_t { kForward = 0, kInputGradient = 1, kWeightGradient = 2, kBiasGradient = 3 };

// Everything that a plan depends on, and nothing else: it is the key of the cache. Sizes are those of the (possibly
// transposed) convolution's own input.
struct Request {
  int64_t pass = 0, dims = 0, last = 0, transposed = 0, groups = 1;
  int64_t n = 0, c = 0, k = 0;
  std::array<int64_t, 3> in{}, filter{}, stride{}, lower{}, upper{}, dilation{}, output_padding{};
  int64_t x_type = 0, w_type = 0, y_type = 0;
  int64_t bias = 0, residual = 0, bias_gradient = 0, activation = 0;
  double slope = 0.01, low = 0, high = 6;
  int64_t device = -1;  // -1: the CPU; else the GPU's number
  int64_t history = 0, new_history = 0;
  int64_t bias_type = 0;

  auto operator<=>(const Request&) const = default;
  bool operator==(const Request&) const = default;

  Format format() const { return last ? Format::kLast : Format::kFirst; }
  Sizes output_sizes() const;  // n, k, spatial
  Sizes input_sizes() const;   // n, c, spatial
  Sizes weight_sizes() const;  // as torch has it: k, c / g or transposed c, k / g, then taps
};

// The arguments that every form of a convolution shares. Lists hold one value, or one a dimension.
struct Shape {
  Sizes stride, lower, upper, dilation, output_padding;
  bool transposed = false;
  int64_t groups = 1;
};

// Fills sizes and shape from the sizes of torch's tensors; "" or why this is nothing for us. Where that is a mistake of
// the caller's, torch's own kernel says so better.
std::string describe(const Sizes& x, const Sizes& w, const Shape& shape, Request& request);

// The request of one pass: without the steps that it has not, and its result in fp32 where it multiplies in tf32.
Request for_pass(const Request& request, Pass pass);

// wavetile_type of a dtype, -1 for those that Wavetile has not; and back.
int32_t type_of(int32_t dtype);
int32_t dtype_of(int64_t type);

// The request has a bias of this dtype; what kernels do not read is converted to fp32.
void set_bias(Request& request, int32_t dtype);

// The problem of a request; the caller ends it. A failure leaves its text in wavetile_last_error.
wavetile_status make_problem(const Request& request, wavetile_problem** problem);

}  // namespace wt::aten
