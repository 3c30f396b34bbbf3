// SPDX-License-Identifier: Apache-2.0
// kernels/shared/tma_maps.h - tensor maps of packed channels-last tensors, as the Hopper kernels' loads want them.
#pragma once

#include <initializer_list>

#include "base/integers.h"
#include "launch/launch.h"
#include "problem/measures.h"
#include "problem/problem.h"

namespace wt {

// A dense tensor of the given sizes, innermost first. The caller sets the box.
TensorMapSpec dense_map(DataType type, std::initializer_list<int64_t> sizes, uint32_t swizzle);

// Pixels first, first + apart, ... of an image, in each dimension (d, h, w).
struct Lattice {
  Spatial first{0, 0, 0}, apart{1, 1, 1};
};

// A channels-last tensor, and the pixels of it that an im2col map walks over: to the map, they are all that there is.
struct Image {
  DataType type;
  int64_t channels;
  Spatial size;
  Lattice seen = {};
};
// From the tensor's first byte to the first pixel that is seen.
uint64_t first_byte(const Image& image);

// Pixel i of the walk, in each dimension (d, h, w), is start + i * step, for i in [0, size), counted in pixels seen.
struct Walk {
  const int32_t (&size)[3];
  const int32_t (&start)[3];
  const int32_t (&step)[3];
};

TensorMapSpec im2col_map(const ConvProblem& problem, const Image& image, const Walk& walk, uint32_t swizzle,
                         int channels_per_pixel, int pixels_per_column);

}  // namespace wt
