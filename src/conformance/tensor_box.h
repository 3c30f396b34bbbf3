// SPDX-License-Identifier: Apache-2.0
// conformance/tensor_box.h - which byte of a tensor each byte of a box in shared memory is, by the manual's words.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "launch/launch.h"

namespace wt::conformance {

uint32_t element_bytes(TensorMapSpec::Element element);

// A dense tensor, its strides rounded up to 16 bytes.
TensorMapSpec tiled_map(TensorMapSpec::Element element, const std::vector<uint64_t>& size,
                        const std::vector<uint32_t>& box, uint32_t swizzle, const std::vector<uint32_t>& step = {});

// Channels innermost, then space (innermost first), then images.
struct Im2colBox {
  std::vector<int> lower, upper;
  std::vector<uint32_t> step;
  uint32_t channels, pixels;
};
TensorMapSpec im2col_map(TensorMapSpec::Element element, const std::vector<uint64_t>& size, const Im2colBox& box,
                         uint32_t swizzle);

uint64_t tensor_bytes(const TensorMapSpec& spec);  // from its first byte to its last
uint32_t box_bytes(const TensorMapSpec& spec);     // that a copy counts
uint32_t shared_bytes(const TensorMapSpec& spec);  // that the box spans in shared memory

// visit(byte of shared memory, counted from a 1024-byte boundary, byte of the tensor or -1) for every byte of the box.
using VisitByte = std::function<void(uint32_t, int64_t)>;
void for_box(const TensorMapSpec& spec, const int32_t* at, const int32_t* tap, const VisitByte& visit);

}  // namespace wt::conformance
