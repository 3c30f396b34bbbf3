// SPDX-License-Identifier: Apache-2.0
// kernels/shared/conv_arguments.h - the parts of a parameter block that every kernel of every family shares.
#pragma once

#include <cstring>

#include "kernels/device/arguments.h"
#include "launch/launch.h"
#include "problem/problem.h"

namespace wt {

ConvShape conv_shape(const ConvProblem& problem);

// Distances of the packed tensor with that role (x, w or y) in the problem's layout.
TensorStrides tensor_strides(const ConvProblem& problem, Tensor tensor);

// Without pointers, which bind_epilogue adds; of an Epilogue alone without the shape either.
// `merged` groups of the user's problem are one of this one, whose output is not dw.
EpilogueArguments epilogue_arguments(const ConvProblem& problem, int merged = 1);
EpilogueArguments epilogue_arguments(const Epilogue& epilogue);

// Whose taps lie inside the image: classes of the output's pixels. Without the table.
Correction correction_of(const ConvProblem& problem);

// The launch's template of its parameter block.
template <class Arguments>
void set_params(Launch& launch, const Arguments& arguments) {
  launch.params.resize(sizeof arguments);
  std::memcpy(launch.params.data(), &arguments, sizeof arguments);
}

// Adds to `launch` the pointers that the epilogue of `problem` reads and writes, and clears amax before it.
// `at` is the offset of the EpilogueArguments in the parameter block.
void bind_epilogue(Launch& launch, const ConvProblem& problem, uint32_t at);

}  // namespace wt
