// SPDX-License-Identifier: Apache-2.0
// problem/traffic.h - the bytes that a problem's tensors take, each read or written once: what predictions start from.
#pragma once

#include "problem/problem.h"

namespace wt {

// Residual and auxiliary tensors.
double epilogue_bytes(const ConvProblem& problem);
// x, w, y and those of the epilogue.
double tensor_bytes(const ConvProblem& problem);

// Two operations per multiply-add that reads an element of x: the direct algorithm's, taps in the padding left out.
double work_without_padding(const ConvProblem& problem);

}  // namespace wt
