// SPDX-License-Identifier: Apache-2.0
// conformance/tensor_dump.h - tensor memory as conformance/device/tcgen05.h fills and dumps it, and operands as they
// lie in shared memory.
#pragma once

#include <vector>

#include "conformance/probe.h"

namespace wt::conformance {

inline constexpr int kColumns = 256;  // of tensor memory, as conformance/device/tcgen05.h dumps it

// As filled before: conformance/device/tcgen05.h.
inline std::vector<float> untouched(int blocks) {
  std::vector<float> all(static_cast<size_t>(blocks) * 128 * kColumns);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<float>(-1000 - static_cast<int>(i % (128 * kColumns)));
  return all;
}

inline Bytes bytes_of(const std::vector<float>& values) {
  Bytes bytes;
  for (const float value : values) append(bytes, value);
  return bytes;
}

inline int swizzled_place(int byte, int swizzle) {
  const int line = byte / 128, piece = byte / 16 % 8, mask = swizzle ? swizzle / 16 - 1 : 0;
  return line * 128 + (piece ^ (line & mask)) * 16 + byte % 16;
}

}  // namespace wt::conformance
