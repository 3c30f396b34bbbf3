// SPDX-License-Identifier: Apache-2.0
// dispatch/tma_maps.h - tensor maps of packed channels-last tensors, as the Hopper kernels' loads want them.
#pragma once

#include <initializer_list>

#include "base/integers.h"
#include "problem/problem.h"
#include "runtime/launch.h"

namespace wt {

inline int64_t pixels(const Spatial& size) { return size[0] * size[1] * size[2]; }

// A dense tensor of the given sizes, innermost first. The caller sets the box.
TensorMapSpec dense_map(DataType type, std::initializer_list<int64_t> sizes, uint32_t swizzle);

// A channels-last tensor that an im2col map walks over.
struct Image {
  DataType type;
  int64_t channels;
  Spatial size;
};

// Pixel i of the walk, in each dimension (d, h, w), is start + i * step, for i in [0, size).
struct Walk {
  const int32_t (&size)[3];
  const int32_t (&start)[3];
  const int32_t (&step)[3];
};

TensorMapSpec im2col_map(const ConvProblem& problem, const Image& image, const Walk& walk, uint32_t swizzle,
                         int channels_per_pixel, int pixels_per_column);

}  // namespace wt
