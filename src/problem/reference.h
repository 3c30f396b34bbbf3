// SPDX-License-Identifier: Apache-2.0
// problem/reference.h - the convolution by its definition: naive loops over the stored values, sums in double.
//
// It shares no code with any kernel or provider, so that agreement means something. fp8 inputs are read at scale one.
#pragma once

#include "problem/tensor_data.h"

namespace wt {

// One output element and what its error bound needs (tolerance.h).
struct ReferenceElement {
  double dot = 0;         // the sum
  double square_sum = 0;  // of its products' squares
  int64_t terms = 0;      // products in it, those with padding left out
  double before = 0;      // after alpha, scale, bias and residual; before the activation
  double magnitude = 0;   // |alpha dot scale| + |bias| + |beta residual|
  double gain = 1;        // |alpha scale|: what an error of the sum is multiplied by
  double value = 0;       // after the activation; not yet rounded to the output's type
};

// Element `index` (in memory order) of the direction's output.
ReferenceElement reference_element(const ConvProblem& problem, const HostTensors& tensors, int64_t index);

// The same from sums made elsewhere (dispatch/gpu_verify.h): dot, square_sum and terms of `sums` are read, the
// rest is filled in. scale, bias and residual are the element's own, read where the problem has them.
ReferenceElement finish_element(const Epilogue& epilogue, const ReferenceElement& sums, float scale, float bias,
                                float residual);

// Computes the whole output into output_of(tensors), rounded once, and amax where the problem has it.
void reference(const ConvProblem& problem, HostTensors& tensors, int threads = 0);

// An activation in double, as the epilogue defines it.
double activate(const Epilogue& epilogue, double value);

// "n=0 k=3 h=1 w=7" for element `index` of the direction's output.
std::string output_position(const ConvProblem& problem, int64_t index);

}  // namespace wt
