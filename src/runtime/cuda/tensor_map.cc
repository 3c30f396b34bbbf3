// SPDX-License-Identifier: Apache-2.0
// runtime/cuda/tensor_map.cc - calls the driver's encoders, and finds words for their one error code.
#include "runtime/cuda/tensor_map.h"

#include <cstring>

#include "base/check.h"

namespace wt::cuda {
namespace {

using Element = TensorMapSpec::Element;
using Kind = TensorMapSpec::Kind;

int type_of(Element element) {
  switch (element) {
    case Element::kU8:
      return kMapU8;
    case Element::kF16:
      return kMapF16;
    case Element::kBf16:
      return kMapBf16;
    case Element::kF32:
      return kMapF32;
    case Element::kTf32:
      return kMapTf32;
  }
  return kMapU8;
}

uint64_t bytes_of(Element element) {
  switch (element) {
    case Element::kU8:
      return 1;
    case Element::kF16:
    case Element::kBf16:
      return 2;
    case Element::kF32:
    case Element::kTf32:
      return 4;
  }
  return 1;
}

int swizzle_of(uint32_t bytes) {
  switch (bytes) {
    case 0:
      return kSwizzleNone;
    case 32:
      return kSwizzle32;
    case 64:
      return kSwizzle64;
    case 128:
      return kSwizzle128;
  }
  WT_CHECK(false, "a swizzle of {} bytes does not exist", bytes);
  return 0;
}

int promotion_of(uint32_t bytes) {
  switch (bytes) {
    case 0:
      return kPromoteNone;
    case 64:
      return kPromote64;
    case 128:
      return kPromote128;
    case 256:
      return kPromote256;
  }
  WT_CHECK(false, "an L2 promotion of {} bytes does not exist", bytes);
  return 0;
}

std::string broken_box_limit(const TensorMapSpec& spec) {
  const uint64_t element = bytes_of(spec.element);
  for (int d = 0; d < spec.rank; ++d)
    if (spec.box[d] == 0 || spec.box[d] > 256) return fmt::format("box[{}]={} is outside 1 to 256", d, spec.box[d]);
  const uint64_t inner = spec.box[0] * element;
  if (inner % 16) return fmt::format("box[0]={} is {} bytes, not a multiple of 16", spec.box[0], inner);
  if (spec.swizzle && inner > spec.swizzle)
    return fmt::format("box[0]={} is {} bytes, more than the swizzle of {} bytes", spec.box[0], inner, spec.swizzle);
  return "";
}

std::string broken_im2col_limit(const TensorMapSpec& spec) {
  if (spec.rank < 3) return fmt::format("im2col needs rank 3 to 5, not {}", spec.rank);
  const uint64_t inner = spec.channels_per_pixel * bytes_of(spec.element);
  if (spec.channels_per_pixel == 0 || spec.channels_per_pixel > 256)
    return fmt::format("channels_per_pixel={} is outside 1 to 256", spec.channels_per_pixel);
  if (spec.pixels_per_column == 0 || spec.pixels_per_column > 1024)
    return fmt::format("pixels_per_column={} is outside 1 to 1024", spec.pixels_per_column);
  if (inner % 16)
    return fmt::format("channels_per_pixel={} is {} bytes, not a multiple of 16", spec.channels_per_pixel, inner);
  if (spec.swizzle && inner > spec.swizzle)
    return fmt::format("channels_per_pixel={} is {} bytes, more than the swizzle of {} bytes", spec.channels_per_pixel,
                       inner, spec.swizzle);
  const int bits = spec.rank == 3 ? 16 : spec.rank == 4 ? 8 : 5;
  const int low = -(1 << (bits - 1)), high = (1 << (bits - 1)) - 1;
  for (int d = 0; d < spec.rank - 2; ++d)
    for (int corner : {spec.lower[d], spec.upper[d]})
      if (corner < low || corner > high)
        return fmt::format("im2col corner {} of spatial dimension {} is outside {} to {}, the range at rank {}", corner,
                           d, low, high, spec.rank);
  return "";
}

}  // namespace

std::string broken_limit(const TensorMapSpec& spec, const void* base) {
  if (spec.rank < 1 || spec.rank > 5) return fmt::format("rank {} is outside 1 to 5", spec.rank);
  if (const auto address = reinterpret_cast<uintptr_t>(base); address % 16)
    return fmt::format("the tensor's address {} is not a multiple of 16", base);
  for (int d = 0; d < spec.rank; ++d) {
    if (spec.size[d] == 0 || spec.size[d] > (uint64_t{1} << 32))
      return fmt::format("size[{}]={} is outside 1 to 2^32", d, spec.size[d]);
    if (spec.element_stride[d] == 0 || spec.element_stride[d] > 8)
      return fmt::format("element_stride[{}]={} is outside 1 to 8", d, spec.element_stride[d]);
    if (d > 0 && (spec.stride[d] % 16 || spec.stride[d] >= (uint64_t{1} << 40)))
      return fmt::format("stride[{}]={} bytes is not a multiple of 16 below 2^40", d, spec.stride[d]);
  }
  return spec.kind == Kind::kTiled ? broken_box_limit(spec) : broken_im2col_limit(spec);
}

Status encode_tensor_map(const Context& context, const TensorMapSpec& spec, void* base, std::byte* map) {
  const Driver& driver = context.driver();
  const auto rank = static_cast<unsigned>(spec.rank);
  const int type = type_of(spec.element), swizzle = swizzle_of(spec.swizzle);
  const int promotion = promotion_of(spec.l2_promotion);
  TensorMapBytes bytes{};  // WHY: the driver wants an alignment that a parameter block on the host may lack
  const uint64_t* strides = spec.stride.data() + 1;  // the innermost stride is the element itself
  int code;
  if (spec.kind == Kind::kTiled) {
    code = driver.tensor_map_encode_tiled(&bytes, type, rank, base, spec.size.data(), strides, spec.box.data(),
                                          spec.element_stride.data(), 0, swizzle, promotion, 0);
  } else {
    code = driver.tensor_map_encode_im2col(&bytes, type, rank, base, spec.size.data(), strides, spec.lower.data(),
                                           spec.upper.data(), spec.channels_per_pixel, spec.pixels_per_column,
                                           spec.element_stride.data(), 0, swizzle, promotion, 0);
  }
  if (code != kSuccess) [[unlikely]] {
    const std::string limit = broken_limit(spec, base);
    const AnyCall& tiled = driver.tensor_map_encode_tiled;
    return context.failed(code, spec.kind == Kind::kTiled ? tiled : driver.tensor_map_encode_im2col,
                          limit.empty() ? "the tensor map breaks no limit that Wavetile knows" : limit);
  }
  std::memcpy(map, &bytes, sizeof bytes);
  return {};
}

}  // namespace wt::cuda
