// SPDX-License-Identifier: Apache-2.0
// runtime/cpu/tensors.h - the pointers of one execute call, by role, and typed access to their elements.
#pragma once

#include <array>
#include <cstdint>

#include "launch/launch.h"
#include "problem/enums.h"

namespace wt::cpu {

using Tensors = std::array<void*, kTensorCount>;

inline void* at(const Tensors& tensors, Tensor tensor) { return tensors[static_cast<size_t>(tensor)]; }

// A tensor to read: its elements' type and its first element, what is subtracted from each (int8's zero point), and the
// scales of its blocks.
struct Source {
  DataType type;
  const void* data;
  float zero = 0;
  const void* scale_bytes = nullptr;  // of blocks, where there are some
  BlockScales scales = BlockScales::kNone;
};

inline const char* element(const void* data, DataType type, int64_t index) {
  return static_cast<const char*>(data) + index * size_of(type);
}

// The elements from index on as fp32, and the way back with its rounding.
void read(const Source& source, int64_t index, float* to, int64_t count);
float read_one(const Source& source, int64_t index);
void write(const float* from, DataType type, void* data, int64_t index, int64_t count);

}  // namespace wt::cpu
