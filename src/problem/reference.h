// SPDX-License-Identifier: Apache-2.0
// problem/reference.h - the convolution by its definition: naive loops over the stored values, sums in double.
//
// It shares no code with any kernel or provider, so that agreement means something. fp8 inputs are read at scale one.
#pragma once

#include "problem/tensor_data.h"
#include "problem/user_code.h"

namespace wt {

// What the epilogue reads at one element beside the sum; only what the problem has counts.
struct EpilogueInputs {
  float scale = 1, bias = 0, residual = 0;
  std::array<float, kMaxAuxiliary> aux{};
  user::Coord at{};
  const UserCode* code = nullptr;
};

// One output element and what its error bound needs (tolerance.h).
struct ReferenceElement {
  int64_t index = 0;      // in memory order
  double dot = 0;         // the sum
  double square_sum = 0;  // of its products' squares
  int64_t terms = 0;      // products in it, those with padding left out
  double before = 0;      // after alpha, scale, bias, residual and what is added; before the activation
  double magnitude = 0;   // |alpha dot scale| + |bias| + |beta residual| + ..
  double gain = 1;        // |alpha scale|: what an error of the sum is multiplied by
  double activated = 0;   // after the activation or its gradient
  double value = 0;       // after the user's f; not yet rounded to the output's type
  double stored = 0;      // where a gradient of the new history is added: what was rounded and stored before
  EpilogueInputs inputs;
};

// Element `index` (in memory order) of the direction's output.
ReferenceElement reference_element(const ConvProblem& problem, const HostTensors& tensors, int64_t index);

// Element `index` of the gradient of the history, which backward data of a problem with a history gives out.
ReferenceElement history_gradient_element(const ConvProblem& problem, const HostTensors& tensors, int64_t index);

// The same from sums made elsewhere (dispatch/trial/gpu_verify.h): dot, square_sum and terms of `sums` are read, the
// rest is filled in.
ReferenceElement finish_element(const ConvProblem& problem, const ReferenceElement& sums, const EpilogueInputs& inputs);

// Computes the whole output into output_of(tensors), rounded once, and amax where the problem has it.
void reference(const ConvProblem& problem, HostTensors& tensors, int threads = 0);

// Has the user's store write `value` at that element, into `output` and the store's own tensors of `aux`.
void store_element(const ConvProblem& problem, const ReferenceElement& element, double value, Buffer& output,
                   std::array<Buffer, kMaxAuxiliary>& aux);

// An activation in double, as the epilogue defines it.
double activate(const Epilogue& epilogue, double value);

// The derivative of epilogue.gradient at the saved number.
double activation_derivative(const Epilogue& epilogue, double saved);

// Which element of the output `index` is, for the user's text.
user::Coord output_coord(const ConvProblem& problem, int64_t index);

// "n=0 k=3 h=1 w=7" for element `index` of the direction's output.
std::string output_position(const ConvProblem& problem, int64_t index);

}  // namespace wt
