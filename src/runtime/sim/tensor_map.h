// SPDX-License-Identifier: Apache-2.0
// runtime/sim/tensor_map.h - the simulator's tensor map: what the hardware packs into 128 bytes, and its limits.
#pragma once

#include <cstddef>
#include <vector>

#include "base/status.h"
#include "launch/launch.h"
#include "runtime/sim/memory.h"

namespace wt::sim {

// Fits the 128 bytes of target/types.h's TensorMap.
struct MapImage {
  static constexpr uint32_t kMagic = 0x57544d50;
  uint32_t magic;
  uint8_t im2col;
  uint8_t element;  // TensorMapSpec::Element
  uint8_t element_bytes;
  uint8_t rank;
  uint64_t base;
  uint32_t size[5];  // minus 1: 2^32 is a size
  uint8_t element_stride[5];
  uint8_t swizzle;  // bytes
  uint16_t pixels;
  uint64_t stride[4];  // bytes, of dimensions 1 to 4
  uint16_t box[5];     // tiled; im2col: [0] is the channels per pixel
  int16_t lower[3], upper[3];
  uint16_t pad;

  uint32_t bytes() const {
    if (im2col) return static_cast<uint32_t>(pixels) * box[0] * element_bytes;
    uint32_t count = element_bytes;
    for (int d = 0; d < rank; ++d) count *= (box[d] + element_stride[d] - 1u) / element_stride[d];
    return count;
  }
  uint32_t inner_bytes() const { return static_cast<uint32_t>(box[0]) * element_bytes; }
  // From one row of the box to the next in shared memory: a swizzled row fills its span even where the box is narrower.
  uint32_t pitch() const { return swizzle ? swizzle : inner_bytes(); }
  uint32_t shared_bytes() const { return bytes() / inner_bytes() * pitch(); }
};
static_assert(sizeof(MapImage) <= 128);

// Checks every limit that the driver and the instructions have, then writes the 128 bytes at `map`.
Status encode_map(const TensorMapSpec& spec, void* base, const std::vector<Buffer>& buffers, std::byte* map);

}  // namespace wt::sim
