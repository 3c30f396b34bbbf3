// SPDX-License-Identifier: Apache-2.0
#include "kernels/shared/tma_maps.h"

namespace wt {
namespace {

TensorMapSpec::Element element_of(DataType type) {
  switch (type) {
    case DataType::kF32:
      return TensorMapSpec::Element::kF32;
    case DataType::kTf32:
      return TensorMapSpec::Element::kTf32;
    case DataType::kF16:
      return TensorMapSpec::Element::kF16;
    case DataType::kBf16:
      return TensorMapSpec::Element::kBf16;
    case DataType::kE4m3:
    case DataType::kE5m2:
    case DataType::kE2m1:
    case DataType::kI8:
      return TensorMapSpec::Element::kU8;
  }
  return TensorMapSpec::Element::kU8;
}

}  // namespace

TensorMapSpec dense_map(DataType type, std::initializer_list<int64_t> sizes, uint32_t swizzle) {
  TensorMapSpec spec;
  spec.element = element_of(type);
  spec.swizzle = swizzle;
  uint64_t stride = static_cast<uint64_t>(size_of(type));
  for (const int64_t size : sizes) {
    spec.size[static_cast<size_t>(spec.rank)] = static_cast<uint64_t>(size);
    spec.stride[static_cast<size_t>(spec.rank)] = stride;
    stride *= static_cast<uint64_t>(size);
    ++spec.rank;
  }
  return spec;
}

uint64_t first_byte(const Image& image) {
  int64_t pixel = 0;
  for (size_t i = 0; i < kMaxDims; ++i) pixel = pixel * image.size[i] + image.seen.first[i];
  return static_cast<uint64_t>(pixel * image.channels * size_of(image.type));
}

TensorMapSpec im2col_map(const ConvProblem& problem, const Image& image, const Walk& walk, uint32_t swizzle,
                         int channels_per_pixel, int pixels_per_column) {
  TensorMapSpec spec;
  spec.kind = TensorMapSpec::Kind::kIm2col;
  spec.element = element_of(image.type);
  spec.rank = problem.dims + 2;
  spec.swizzle = swizzle;
  spec.channels_per_pixel = static_cast<uint32_t>(channels_per_pixel);
  spec.pixels_per_column = static_cast<uint32_t>(pixels_per_column);
  spec.size[0] = static_cast<uint64_t>(image.channels);
  spec.stride[0] = static_cast<uint64_t>(size_of(image.type));
  uint64_t stride = spec.size[0] * spec.stride[0];
  size_t at = 1;
  for (int i = 2; i >= kMaxDims - problem.dims; --i, ++at) {
    const int64_t all = image.size[static_cast<size_t>(i)], apart = image.seen.apart[static_cast<size_t>(i)];
    const int64_t size = ceil_div(all - image.seen.first[static_cast<size_t>(i)], apart);
    spec.size[at] = static_cast<uint64_t>(size);
    spec.stride[at] = stride * static_cast<uint64_t>(apart);
    spec.element_stride[at] = static_cast<uint32_t>(walk.step[i]);
    stride *= static_cast<uint64_t>(all);
    // The walk's last pixel is size - 1 + upper.
    const int64_t last = walk.start[i] + (int64_t{walk.size[i]} - 1) * walk.step[i];
    spec.lower[at - 1] = walk.start[i];
    spec.upper[at - 1] = static_cast<int32_t>(last - (size - 1));
  }
  spec.size[at] = static_cast<uint64_t>(problem.n);
  spec.stride[at] = stride;
  return spec;
}

}  // namespace wt
