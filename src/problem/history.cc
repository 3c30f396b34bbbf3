// SPDX-License-Identifier: Apache-2.0
#include "problem/history.h"

#include <algorithm>
#include <cstring>

namespace wt {
namespace {

ConvProblem with_rows(const ConvProblem& problem, int64_t rows) {
  ConvProblem image = problem;
  image.in[problem.time()] = rows;
  image.history = image.new_history = false;
  return image;
}

Rows rows_of(const ConvProblem& problem, int64_t channels, const Spatial& size) {
  const bool last = problem.layout == Layout::kChannelsLast;
  Rows rows{last ? problem.n : problem.n * channels, size[problem.time()], last ? channels : 1};
  for (int i = problem.time() + 1; i < kMaxDims; ++i) rows.elements *= size[i];
  return rows;
}

}  // namespace

ConvProblem joined_problem(const ConvProblem& problem) {
  ConvProblem joined = with_rows(problem, problem.in[problem.time()] + problem.history_length());
  joined.pad_lower[problem.time()] = 0;
  return joined;
}

ConvProblem without_history(const ConvProblem& problem) { return with_rows(problem, problem.in[problem.time()]); }

int64_t history_outputs(const ConvProblem& problem) {
  const int64_t stride = problem.stride[problem.time()];
  return std::min(problem.out()[problem.time()], (problem.history_length() + stride - 1) / stride);
}

ConvProblem first_rows_problem(const ConvProblem& problem) {
  const int time = problem.time();
  // What the windows of history_outputs() reach over beyond the history.
  const int64_t beyond = (history_outputs(problem) - 1) * problem.stride[time] + 1;
  const bool forward = problem.direction == Direction::kForward;
  ConvProblem first = with_rows(problem, problem.history_length() + (forward ? beyond : 0));
  first.pad_lower[time] = 0;
  first.pad_upper[time] = forward ? 0 : beyond;
  return first;
}

Rows rows_of_x(const ConvProblem& problem) { return rows_of(problem, problem.c, problem.in); }
Rows rows_of_y(const ConvProblem& problem) { return rows_of(problem, problem.k, problem.out()); }

Strides history_strides(const ConvProblem& problem) { return x_strides(with_rows(problem, problem.history_length())); }

void copy_joined(const ConvProblem& problem, const void* history, const void* x, int64_t first, int64_t count,
                 void* out) {
  const Rows rows = rows_of_x(problem);
  const int64_t length = problem.history_length();
  const auto row_bytes = static_cast<size_t>(rows.elements * size_of(problem.x));
  const auto row = [&](const void* image, int64_t index, int64_t of, int64_t at) {
    return static_cast<const char*>(image) + static_cast<size_t>(index * of + at) * row_bytes;
  };
  for (int64_t n = 0; n < rows.images; ++n) {
    // WHY rows in order: where `out` is the history, a row is read before it is written over.
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = first + i;
      const char* source = at < length ? row(history, n, length, at) : row(x, n, rows.rows, at - length);
      std::memmove(static_cast<char*>(out) + static_cast<size_t>(n * count + i) * row_bytes, source, row_bytes);
    }
  }
}

}  // namespace wt
