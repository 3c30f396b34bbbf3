// SPDX-License-Identifier: Apache-2.0
// api/transposed.cc - transposed convolutions of the C API, in their own words.
#include "problem/transposed.h"

#include "api/guard.h"
#include "api/handles.h"

using namespace wt;
using namespace wt::api;

namespace {

// The desc's x is the transposed convolution's input, its y the output.
Result<TransposedConv> read_transposed(const wavetile_problem_desc& desc, const int64_t* output_padding) {
  ConvProblem own;
  WT_TRY(read_desc(desc, true, own));
  if (own.x_zero != 0 || own.y_zero != 0)
    return bad_input("a transposed convolution has no zero points: int8 is for forward");
  if (own.history || own.new_history) return bad_input("a transposed convolution has no history");
  if (own.has_scales()) return bad_input("a transposed convolution has no scales of blocks");
  if (own.bias_gradient == BiasGradient::kOfX) {
    return bad_input("a transposed convolution has one bias gradient, of its output's gradient; use bias_gradient=1");
  }
  TransposedConv t;
  t.pass = own.direction;
  t.dims = own.dims;
  t.layout = own.layout;
  t.input = own.x, t.w = own.w, t.output = own.y, t.acc = own.acc;
  t.n = own.n, t.g = own.g, t.c = own.c, t.k = own.k;
  t.in = own.in, t.filter = own.filter, t.stride = own.stride, t.dilation = own.dilation;
  t.pad_lower = own.pad_lower, t.pad_upper = own.pad_upper;
  for (int i = 0; output_padding && i < t.dims; ++i) {
    t.output_padding[static_cast<size_t>(kMaxDims - t.dims + i)] = output_padding[i];
  }
  t.epilogue = own.epilogue;
  t.bias_gradient = own.bias_gradient != BiasGradient::kNone;
  return t;
}

}  // namespace

extern "C" {

wavetile_status wavetile_problem_create_transposed(const wavetile_problem_desc* desc, const int64_t output_padding[3],
                                                   wavetile_problem** problem) {
  WT_API_REQUIRE(desc);
  WT_API_REQUIRE(problem);
  return guard([&]() -> Status {
    WT_TRY_ASSIGN(const TransposedConv transposed, read_transposed(*desc, output_padding));
    WT_TRY_ASSIGN(const ConvProblem value, to_convolution(transposed));
    *problem = new_problem(value);
    return {};
  });
}

wavetile_status wavetile_transposed_output_size(const wavetile_problem_desc* desc, const int64_t output_padding[3],
                                                int64_t size[3]) {
  WT_API_REQUIRE(desc);
  WT_API_REQUIRE(size);
  return guard([&]() -> Status {
    WT_TRY_ASSIGN(const TransposedConv transposed, read_transposed(*desc, output_padding));
    WT_TRY_ASSIGN(const ConvProblem value, to_convolution(transposed));
    for (int i = 0; i < kMaxDims; ++i) {
      size[i] = i < value.dims ? value.in[static_cast<size_t>(kMaxDims - value.dims + i)] : 1;
    }
    return {};
  });
}

}  // extern "C"
