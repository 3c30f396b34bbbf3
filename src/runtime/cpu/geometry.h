// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/geometry.h - which source pixel each tap reads, the same way for every direction.
//
// Forward and backward weight walk the pixels of y and read x; backward data walks the pixels of dx and reads dy.
// With a stride, the pixels of dx fall into phases, and within a phase every pixel has the same taps.
#pragma once

#include <vector>

#include "problem/problem.h"

namespace wt::cpu {

struct Tap {
  Spatial base;    // the source coordinate for pixel 0 of the phase; may be outside of the source
  int64_t filter;  // which of the filter's taps
};

// Pixel i of the phase is pixel origin + i * spacing of the walked tensor and reads base + i * step of the source.
struct Phase {
  Spatial count;
  Spatial origin;
  Spatial spacing;
  Spatial step;
  std::vector<Tap> taps;

  int64_t rows() const { return count[0] * count[1]; }
  int64_t pixels() const { return rows() * count[2]; }
};

struct Geometry {
  explicit Geometry(const ConvProblem& problem);

  Spatial source;  // size of the tensor that is read
  Spatial walked;  // size of the tensor whose pixels are walked
  int64_t taps;    // of the whole filter
  std::vector<Phase> phases;
};

// The part [lower, upper) of pixels [first, last) of one dimension for which base + i * step is inside [0, size).
struct Range {
  int64_t lower, upper;
};
Range valid_range(int64_t base, int64_t step, int64_t size, int64_t first, int64_t last);

}  // namespace wt::cpu
