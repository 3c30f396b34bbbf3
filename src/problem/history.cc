// SPDX-License-Identifier: Apache-2.0
#include "problem/history.h"

#include <cstring>

namespace wt {
namespace {

constexpr int kTime = kMaxDims - 1;

Strides strides_of(const ConvProblem& problem, int64_t pixels) {
  ConvProblem image = problem;
  image.in[kTime] = pixels;
  return x_strides(image);
}

}  // namespace

ConvProblem joined_problem(const ConvProblem& problem) {
  ConvProblem joined = problem;
  joined.in[kTime] += problem.history_length();
  joined.pad_lower[kTime] = 0;
  joined.history = joined.new_history = false;
  return joined;
}

Strides history_strides(const ConvProblem& problem) { return strides_of(problem, problem.history_length()); }

void copy_joined(const ConvProblem& problem, const void* history, const void* x, int64_t first, int64_t count,
                 void* out) {
  const int64_t length = problem.history_length();
  const Strides from_history = history_strides(problem), from_x = x_strides(problem), to = strides_of(problem, count);
  const auto bytes = static_cast<size_t>(size_of(problem.x));
  for (int64_t n = 0; n < problem.n; ++n) {
    // WHY pixels in order: where `out` is the history, a pixel is read before it is written over.
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = first + i;
      for (int64_t c = 0; c < problem.c; ++c) {
        const char* source =
            at < length
                ? static_cast<const char*>(history) + static_cast<size_t>(from_history.at(n, c, {0, 0, at})) * bytes
                : static_cast<const char*>(x) + static_cast<size_t>(from_x.at(n, c, {0, 0, at - length})) * bytes;
        std::memmove(static_cast<char*>(out) + static_cast<size_t>(to.at(n, c, {0, 0, i})) * bytes, source, bytes);
      }
    }
  }
}

}  // namespace wt
