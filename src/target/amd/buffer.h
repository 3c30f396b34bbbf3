// SPDX-License-Identifier: Apache-2.0
// target/amd/buffer.h - loads through a buffer descriptor, which answers offsets beyond its range with zeros.
#pragma once

#include "target/amd/identity.h"

namespace wt::device {

// An offset that is outside every buffer: buffers have at most so many bytes.
inline constexpr u32 kOutside = 1u << 31;

struct BufferView {
  __amdgpu_buffer_rsrc_t resource;
};

// `bytes` from `base` on, a multiple of 4; both are the same in all lanes of the wave.
WT_DEVICE BufferView buffer_view(const void* base, u32 bytes) {
  // WHY the last word: a raw buffer of 32-bit elements (MI300 ISA manual, "Buffer Resource Descriptor": data format
  // 32).
  return {__builtin_amdgcn_make_buffer_rsrc(const_cast<void*>(base), 0, static_cast<int>(bytes), 0x00020000)};
}

// A T at `offset` bytes, a multiple of its size or of 4. Words that start at or beyond the end are zeros.
template <class T>
WT_DEVICE T load_buffer(const BufferView& view, u32 offset) {
  if constexpr (sizeof(T) == 1) {
    return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b8(view.resource, offset, 0, 0));
  } else if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b16(view.resource, offset, 0, 0));
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b32(view.resource, offset, 0, 0));
  } else if constexpr (sizeof(T) == 8) {
    return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b64(view.resource, offset, 0, 0));
  } else {
    static_assert(sizeof(T) == 16, "buffer loads have 1, 2, 4, 8 or 16 bytes");
    return __builtin_bit_cast(T, __builtin_amdgcn_raw_buffer_load_b128(view.resource, offset, 0, 0));
  }
}

// Which wave of its SIMD issues first, 0 to 3.
template <int kPriority>
WT_DEVICE void set_priority() {
  __builtin_amdgcn_s_setprio(kPriority);
}

}  // namespace wt::device
