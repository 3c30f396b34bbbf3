// SPDX-License-Identifier: Apache-2.0
// target/amd/async_copy.h - copies from global to shared memory that pass no register: those of whole waves, on CDNA.
//
// Copies of single lanes are NVIDIA's; the constraint portable-async keeps kernels of them away, and the names are
// declared for code that asks its config first.
#pragma once

#include "target/amd/buffer.h"

namespace wt::device {

template <int kBytes>
WT_DEVICE void copy_async(SharedAddress to, const void* from, int valid);
WT_DEVICE void copy_async_line(SharedAddress to, const void* from, int valid);
WT_DEVICE void copy_async_commit();
template <int kPending>
WT_DEVICE void copy_async_wait();

// 16 bytes of every lane, `offset` bytes behind `base` (less than 2^31, a multiple of 16; base is the same in all
// lanes), or zeros where nothing `exists`; lane after lane from `to` on, which is the same in all lanes.
#if defined(__GFX9__)
WT_DEVICE void copy_wave(SharedAddress to, const void* base, u32 offset, bool exists) {
  copy_buffer(buffer_view(base, kOutside), exists ? offset : kOutside, to);
}
// All of this wave's copies have landed but the last kPending, each of which counts kCopyParts times.
template <int kPending>
WT_DEVICE void copy_wave_wait() {
  constexpr int kMost = 63;  // that the counter holds; to leave fewer is right too
  copy_buffer_wait<(kPending * kCopyParts < kMost ? kPending * kCopyParts : kMost)>();
}
#else
WT_DEVICE void copy_wave(SharedAddress to, const void* base, u32 offset, bool exists);
template <int kPending>
WT_DEVICE void copy_wave_wait();
#endif

}  // namespace wt::device
