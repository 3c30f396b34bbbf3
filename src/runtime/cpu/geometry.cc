// SPDX-License-Identifier: Apache-2.0
#include "runtime/cpu/geometry.h"

#include <algorithm>

namespace wt::cpu {

namespace {

// Calls body({d, h, w}, linear index) for every point of a box.
template <class Body>
void for_each_point(const Spatial& size, Body body) {
  int64_t linear = 0;
  for (int64_t d = 0; d < size[0]; ++d)
    for (int64_t h = 0; h < size[1]; ++h)
      for (int64_t w = 0; w < size[2]; ++w) body(Spatial{d, h, w}, linear++);
}

Phase walk_output(const ConvProblem& problem) {
  Phase phase{problem.out(), {0, 0, 0}, {1, 1, 1}, problem.stride, {}};
  for_each_point(problem.filter, [&](const Spatial& at, int64_t filter) {
    Tap tap{{}, filter};
    for (int i = 0; i < kMaxDims; ++i) tap.base[i] = at[i] * problem.dilation[i] - problem.pad_lower[i];
    phase.taps.push_back(tap);
  });
  return phase;
}

Phase walk_input(const ConvProblem& problem, const Spatial& origin) {
  Phase phase{{}, origin, problem.stride, {1, 1, 1}, {}};
  for (int i = 0; i < kMaxDims; ++i)
    phase.count[i] = (problem.in[i] - origin[i] + problem.stride[i] - 1) / problem.stride[i];
  for_each_point(problem.filter, [&](const Spatial& at, int64_t filter) {
    Tap tap{{}, filter};
    for (int i = 0; i < kMaxDims; ++i) {
      const int64_t distance = origin[i] + problem.pad_lower[i] - at[i] * problem.dilation[i];
      if (distance % problem.stride[i] != 0) return;
      tap.base[i] = distance / problem.stride[i];
    }
    phase.taps.push_back(tap);
  });
  return phase;
}

}  // namespace

Geometry::Geometry(const ConvProblem& problem) : taps(problem.filter[0] * problem.filter[1] * problem.filter[2]) {
  if (problem.direction != Direction::kBackwardData) {
    source = problem.in;
    walked = problem.out();
    phases.push_back(walk_output(problem));
    return;
  }
  source = problem.out();
  walked = problem.in;
  Spatial origins;
  for (int i = 0; i < kMaxDims; ++i) origins[i] = std::min(problem.stride[i], problem.in[i]);
  for_each_point(origins, [&](const Spatial& origin, int64_t) { phases.push_back(walk_input(problem, origin)); });
}

Range valid_range(int64_t base, int64_t step, int64_t size, int64_t first, int64_t last) {
  int64_t lower = base >= 0 ? 0 : (-base + step - 1) / step;
  int64_t upper = base >= size ? 0 : (size - 1 - base) / step + 1;
  lower = std::clamp(lower, first, last);
  upper = std::clamp(upper, lower, last);
  return {lower, upper};
}

}  // namespace wt::cpu
