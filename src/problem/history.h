// SPDX-License-Identifier: Apache-2.0
// problem/history.h - history and x of a causal problem as one image: what came before, then what comes now.
#pragma once

#include "problem/problem.h"

namespace wt {

// The same convolution over history and x joined: as many pixels more as the history has, and no padding.
ConvProblem joined_problem(const ConvProblem& problem);

// Strides of the history, an image of history_length() pixels.
Strides history_strides(const ConvProblem& problem);

// Pixels [first, first + count) of the joined image into `out`, an image of `count` pixels. All in host memory; `out`
// may be the history itself.
void copy_joined(const ConvProblem& problem, const void* history, const void* x, int64_t first, int64_t count,
                 void* out);

}  // namespace wt
