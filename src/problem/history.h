// SPDX-License-Identifier: Apache-2.0
// problem/history.h - history and x of a causal problem as one image: what came before, then what comes now.
//
// A row is one step of the outermost dimension: a pixel of a line, a line of an image, a frame of a video.
#pragma once

#include "problem/problem.h"

namespace wt {

// The same convolution over history and x joined: as many rows more as the history has, and no padding before them.
// Backward data of it gives the gradients of both.
ConvProblem joined_problem(const ConvProblem& problem);

// The same convolution of x alone, with zeros before it.
ConvProblem without_history(const ConvProblem& problem);

// How many of the first output rows see the history: all of them where x is short.
int64_t history_outputs(const ConvProblem& problem);

// The problem over the rows that give history_outputs(): forward of history and x joined, so far as these see them;
// backward of the history alone, with zeros after it. Its epilogue is the problem's.
ConvProblem first_rows_problem(const ConvProblem& problem);

// A problem's tensor as rows: images (or images x channels, where channels lie apart) of `rows`, each of `elements`.
struct Rows {
  int64_t images = 0, rows = 0, elements = 0;
};
Rows rows_of_x(const ConvProblem& problem);
Rows rows_of_y(const ConvProblem& problem);

// Strides of the history, an image of history_length() rows.
Strides history_strides(const ConvProblem& problem);

// Rows [first, first + count) of the joined image into `out`, an image of `count` rows. All in host memory; `out` may
// be the history itself.
void copy_joined(const ConvProblem& problem, const void* history, const void* x, int64_t first, int64_t count,
                 void* out);

}  // namespace wt
