// SPDX-License-Identifier: Apache-2.0
#include "runtime/sim/tensor_map.h"

#include <cstring>

namespace wt::sim {
namespace {

using Element = TensorMapSpec::Element;
using Kind = TensorMapSpec::Kind;

uint32_t bytes_of(Element element) {
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
  return 0;
}

Status refuse(std::string why) { return bad_input("tensor map: {}", why); }

Status check_inner(const TensorMapSpec& spec, const char* name, uint32_t count) {
  const uint32_t inner = count * bytes_of(spec.element);
  if (inner % 16) return refuse(fmt::format("{}={} is {} bytes, not a multiple of 16", name, count, inner));
  if (spec.swizzle && inner > spec.swizzle) {
    return refuse(
        fmt::format("{}={} is {} bytes, more than the swizzle of {} bytes", name, count, inner, spec.swizzle));
  }
  return {};
}

Status check_tiled(const TensorMapSpec& spec) {
  for (int d = 0; d < spec.rank; ++d) {
    if (spec.box[d] == 0 || spec.box[d] > 256) {
      return refuse(fmt::format("box[{}]={} is outside 1 to 256", d, spec.box[d]));
    }
  }
  return check_inner(spec, "box[0]", spec.box[0]);
}

Status check_im2col(const TensorMapSpec& spec) {
  if (spec.rank < 3) return refuse(fmt::format("im2col needs rank 3 to 5, not {}", spec.rank));
  if (spec.channels_per_pixel == 0 || spec.channels_per_pixel > 256) {
    return refuse(fmt::format("channels_per_pixel={} is outside 1 to 256", spec.channels_per_pixel));
  }
  if (spec.pixels_per_column == 0 || spec.pixels_per_column > 1024) {
    return refuse(fmt::format("pixels_per_column={} is outside 1 to 1024", spec.pixels_per_column));
  }
  const int bits = spec.rank == 3 ? 16 : spec.rank == 4 ? 8 : 5;
  const int low = -(1 << (bits - 1)), high = (1 << (bits - 1)) - 1;
  for (int d = 0; d < spec.rank - 2; ++d) {
    for (const int corner : {spec.lower[d], spec.upper[d]}) {
      if (corner < low || corner > high) {
        return refuse(fmt::format("im2col corner {} of spatial dimension {} is outside {} to {}, the range at rank {}",
                                  corner, d, low, high, spec.rank));
      }
    }
    const int64_t last = static_cast<int64_t>(spec.size[d + 1]) - 1 + spec.upper[d];
    if (last < spec.lower[d]) {
      return refuse(fmt::format("the im2col bounding box of spatial dimension {} is empty: from {} to {}", d,
                                spec.lower[d], last));
    }
  }
  return check_inner(spec, "channels_per_pixel", spec.channels_per_pixel);
}

Status check_limits(const TensorMapSpec& spec, const void* base) {
  if (spec.rank < 1 || spec.rank > 5) return refuse(fmt::format("rank {} is outside 1 to 5", spec.rank));
  if (reinterpret_cast<uintptr_t>(base) % 16) {
    return refuse(fmt::format("the tensor's address {} is not a multiple of 16", base));
  }
  if (spec.swizzle != 0 && spec.swizzle != 32 && spec.swizzle != 64 && spec.swizzle != 128) {
    return refuse(fmt::format("swizzle={} is none of 0, 32, 64, 128 bytes", spec.swizzle));
  }
  if (spec.l2_promotion != 0 && spec.l2_promotion != 64 && spec.l2_promotion != 128 && spec.l2_promotion != 256) {
    return refuse(fmt::format("l2_promotion={} is none of 0, 64, 128, 256 bytes", spec.l2_promotion));
  }
  for (int d = 0; d < spec.rank; ++d) {
    if (spec.size[d] == 0 || spec.size[d] > (uint64_t{1} << 32)) {
      return refuse(fmt::format("size[{}]={} is outside 1 to 2^32", d, spec.size[d]));
    }
    if (spec.element_stride[d] == 0 || spec.element_stride[d] > 8) {
      return refuse(fmt::format("element_stride[{}]={} is outside 1 to 8", d, spec.element_stride[d]));
    }
    if (d > 0 && (spec.stride[d] % 16 || spec.stride[d] >= (uint64_t{1} << 40))) {
      return refuse(fmt::format("stride[{}]={} bytes is not a multiple of 16 below 2^40", d, spec.stride[d]));
    }
  }
  return spec.kind == Kind::kTiled ? check_tiled(spec) : check_im2col(spec);
}

// The hardware cannot know where a buffer ends; the simulator can.
Status check_extent(const TensorMapSpec& spec, const void* base, const std::vector<Buffer>& buffers) {
  uint64_t last = spec.size[0] * bytes_of(spec.element);
  for (int d = 1; d < spec.rank; ++d) last += (spec.size[d] - 1) * spec.stride[d];
  const auto low = reinterpret_cast<uintptr_t>(base);
  for (const Buffer& buffer : buffers) {
    if (low >= buffer.low && low < buffer.high && last <= buffer.high - low) return {};
  }
  return refuse(fmt::format("the tensor's {} bytes at {} do not lie in one buffer: its end is {}", last, base,
                            describe_address(buffers, low + last - 1)));
}

}  // namespace

Status encode_map(const TensorMapSpec& spec, void* base, const std::vector<Buffer>& buffers, std::byte* map) {
  WT_TRY(check_limits(spec, base));
  WT_TRY(check_extent(spec, base, buffers));
  MapImage image{};
  image.magic = MapImage::kMagic;
  image.im2col = spec.kind == Kind::kIm2col;
  image.element = static_cast<uint8_t>(spec.element);
  image.element_bytes = static_cast<uint8_t>(bytes_of(spec.element));
  image.rank = static_cast<uint8_t>(spec.rank);
  image.base = reinterpret_cast<uint64_t>(base);
  image.swizzle = static_cast<uint8_t>(spec.swizzle);
  image.pixels = static_cast<uint16_t>(spec.pixels_per_column);
  for (int d = 0; d < spec.rank; ++d) {
    image.size[d] = static_cast<uint32_t>(spec.size[d] - 1);
    image.element_stride[d] = static_cast<uint8_t>(d == 0 ? 1 : spec.element_stride[d]);  // the hardware ignores [0]
    image.box[d] = static_cast<uint16_t>(image.im2col ? 0 : spec.box[d]);
    if (d > 0) image.stride[d - 1] = spec.stride[d];
  }
  if (image.im2col) image.box[0] = static_cast<uint16_t>(spec.channels_per_pixel);
  for (int d = 0; d < 3; ++d) {
    image.lower[d] = static_cast<int16_t>(spec.lower[d]);
    image.upper[d] = static_cast<int16_t>(spec.upper[d]);
  }
  std::memset(map, 0, 128);
  std::memcpy(map, &image, sizeof image);
  return {};
}

}  // namespace wt::sim
