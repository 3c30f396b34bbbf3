// SPDX-License-Identifier: Apache-2.0
// cli/input/torch_trace.h - the convolutions in a trace that PyTorch's profiler exported (export_chrome_trace, with
// record_shapes=True): python/wavetile/torch/doctor.py reads the same in Python.
//
//   traceEvents: aten::convolution, aten::convolution_backward --shapes, strides, types, arguments--> problem texts
//                kernels by correlation --launched during a call--> its time on the GPU
#pragma once

#include <string>
#include <vector>

#include "problem/problem.h"

namespace wt::cli {

// One gradient or result of a call; a backward call of two has its time shared between them by their operations.
struct TorchCall {
  ConvProblem problem;
  double us = 0;
};

struct TorchTrace {
  std::vector<TorchCall> calls;  // in the order of the file
  std::vector<std::string> left_out;
};

// A call without shapes is a fault, one of types that Wavetile has not is left out.
Result<TorchTrace> read_torch_trace(const std::string& text, const std::string& source);

}  // namespace wt::cli
