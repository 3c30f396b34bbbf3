// SPDX-License-Identifier: Apache-2.0
// target/amd/buffer.h - loads through a buffer descriptor, which answers offsets beyond its range with zeros.
#pragma once

#include "target/amd/collective.h"
#include "target/amd/memory.h"

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

// A T `offset` bytes behind `base`, which is the same in all lanes; zero at kOutside. Tensors have fewer bytes than
// that. No branch, so that what loads stays in one block with what multiplies.
#if defined(__GFX9__)
template <class T>
WT_DEVICE T load_or_zero(const void* base, u32 offset) {
  return load_buffer<T>(buffer_view(base, kOutside), offset);
}
#else
template <class T>
WT_DEVICE T load_or_zero(const void* base, u32 offset) {
  const bool inside = offset != kOutside;
  const T value = load_global(reinterpret_cast<const T*>(static_cast<const char*>(base) + (inside ? offset : 0)));
  return inside ? value : T{};
}
#endif

// 16 bytes of every lane straight to shared memory, one lane's after the other's from `to` on, which is the same in all
// lanes: kCopyParts instructions. They have landed for this wave when copy_buffer_wait says so.
// WHY assembly: after the builtin, clang 22 waits for everything in flight before the next read of any shared memory.
#if defined(__gfx950__)
inline constexpr int kCopyParts = 1;
WT_DEVICE void copy_buffer(const BufferView& view, u32 offset, SharedAddress to) {
  asm volatile(
      "s_mov_b32 m0, %0\n\ts_nop 0\n\t"
      "buffer_load_dwordx4 %1, %2, 0 offen lds"
      :
      : "s"(uniform(static_cast<int>(to))), "v"(offset), "s"(view.resource)
      : "memory", "m0");
}
#elif defined(__GFX9__)
// gfx90a and gfx942 copy 4 bytes of a lane: a part of it fills the places of 16 lanes, whose offsets the others ask
// for.
inline constexpr int kCopyParts = 4;
WT_DEVICE void copy_buffer(const BufferView& view, u32 offset, SharedAddress to) {
  const int lane = lane_index();
  WT_UNROLL for (int part = 0; part < kCopyParts; ++part) {
    const u32 word = shuffle(offset, part * 16 + lane / 4) + static_cast<u32>(lane % 4 * 4);
    asm volatile(
        "s_mov_b32 m0, %0\n\ts_nop 0\n\t"
        "buffer_load_dword %1, %2, 0 offen lds"
        :
        : "s"(uniform(static_cast<int>(to) + part * 256)), "v"(word), "s"(view.resource)
        : "memory", "m0");
  }
}
#else
inline constexpr int kCopyParts = 1;
WT_DEVICE void copy_buffer(const BufferView& view, u32 offset, SharedAddress to);  // for code that asks its target
#endif
// All but the last kPending of this wave's copies have landed.
template <int kPending>
WT_DEVICE void copy_buffer_wait() {
  static_assert(kPending >= 0 && kPending < 64);
  // WHY the number: vmcnt in bits 0 to 3 and 14 to 15, every other counter at its most, which is not waited for.
  __builtin_amdgcn_s_waitcnt(0x0f70 | (kPending & 15) | (kPending >> 4) << 14);
}

// A place in the order of instructions: the next kCount of a sort come here. A sequence of them is the schedule of the
// block that it stands in.
enum class Slot : int { kMatrix = 0x8, kGlobalRead = 0x20, kSharedRead = 0x100, kSharedWrite = 0x200 };
template <Slot kSlot, int kCount>
WT_DEVICE void schedule() {
  if constexpr (kCount > 0) __builtin_amdgcn_sched_group_barrier(static_cast<int>(kSlot), kCount, 0);
}
// No instruction passes this place.
WT_DEVICE void schedule_end() { __builtin_amdgcn_sched_barrier(0); }

}  // namespace wt::device
