// SPDX-License-Identifier: Apache-2.0
// kernels/trial/device/arguments.h - the parameter block of the trial kernel.
#pragma once

#include "kernels/device/arguments.h"

namespace wt {

struct TrialArguments {
  ConvShape shape;
  TensorStrides x_strides, w_strides, y_strides;
  const void* x;
  const void* w;
  void* y;
  i64 outputs;
  EpilogueArguments epilogue;
};

}  // namespace wt
