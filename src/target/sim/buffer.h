// SPDX-License-Identifier: Apache-2.0
// target/sim/buffer.h - loads through a buffer descriptor, which answers offsets beyond its range with zeros.
#pragma once

#include "target/sim/collective.h"
#include "target/sim/memory.h"

namespace wt::device {

// An offset that is outside every buffer: buffers have at most so many bytes.
inline constexpr u32 kOutside = 1u << 31;

struct BufferView {
  const void* base;
  u32 bytes;
};

WT_DEVICE BufferView buffer_view(const void* base, u32 bytes) { return {base, bytes}; }

// A T at `offset` bytes, a multiple of its size or of 4. Words that start at or beyond the end are zeros.
template <class T>
WT_DEVICE T load_buffer(const BufferView& view, u32 offset, WT_SITE) {
  static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 16,
                "buffer loads have 1, 2, 4, 8 or 16 bytes");
  T value;
  sim::table->read_buffer(&value, view.base, view.bytes, offset, sizeof(T), site);
  return value;
}

// A T `offset` bytes behind `base`, the same in all lanes; zero at kOutside.
template <class T>
WT_DEVICE T load_or_zero(const void* base, u32 offset, WT_SITE) {
  if constexpr (kWarpSize == 64) return load_buffer<T>(buffer_view(base, kOutside), offset, site);
  const bool inside = offset != kOutside;
  const T value = load_global(reinterpret_cast<const T*>(static_cast<const char*>(base) + (inside ? offset : 0)), site);
  return inside ? value : T{};
}

// 16 bytes of every lane straight to shared memory, one lane's after the other's from `to` on. Before gfx950 lanes copy
// 4 bytes at a time, a part the places of 16 lanes.
inline constexpr int kCopyParts = kTarget == Target::kGfx950 ? 1 : 4;
WT_DEVICE void copy_buffer(const BufferView& view, u32 offset, SharedAddress to, WT_SITE) {
  if constexpr (kCopyParts == 1) {
    sim::table->copy_buffer(to, view.base, view.bytes, offset, 16, site);
  } else {
    const int lane = lane_index();
    for (int part = 0; part < kCopyParts; ++part) {
      const u32 word = shuffle(offset, part * 16 + lane / 4, site) + static_cast<u32>(lane % 4 * 4);
      sim::table->copy_buffer(to + static_cast<u32>(part * 256), view.base, view.bytes, word, 4, site);
    }
  }
}
// All but the last kPending of this wave's copies have landed.
template <int kPending>
WT_DEVICE void copy_buffer_wait(WT_SITE) {
  sim::table->copy_async_wait(kPending, site);
}

// There is no speed here, and so no order of instructions.
enum class Slot : int { kMatrix, kGlobalRead, kSharedRead, kSharedWrite };
template <Slot kSlot, int kCount>
WT_DEVICE void schedule() {}
WT_DEVICE void schedule_end() {}

}  // namespace wt::device
