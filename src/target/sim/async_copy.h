// SPDX-License-Identifier: Apache-2.0
// target/sim/async_copy.h - copies from global to shared memory that pass no register.
#pragma once

#include "target/sim/buffer.h"

namespace wt::device {

// kBytes (4, 8 or 16, both addresses aligned to it), of which `valid` come from `from` and the rest is zero.
template <int kBytes>
WT_DEVICE void copy_async(SharedAddress to, const void* from, int valid, WT_SITE) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  sim::table->copy_async(to, from, kBytes, valid, site);
}
// The same of 16 bytes where other blocks read the rest of their line of 128 soon.
WT_DEVICE void copy_async_line(SharedAddress to, const void* from, int valid, WT_SITE) {
  copy_async<16>(to, from, valid, site);
}
WT_DEVICE void copy_async_commit(WT_SITE) { sim::table->copy_async_commit(site); }
template <int kPending>
WT_DEVICE void copy_async_wait(WT_SITE) {
  sim::table->copy_async_wait(kPending, site);
}

// This thread's copies so far arrive at `barrier` when they have landed, as one of its counted arrivals.
WT_DEVICE void copy_async_arrive(SharedAddress barrier, WT_SITE) { sim::table->copy_async_arrive(barrier, site); }

// 16 bytes of every lane of a wave of CDNA, `offset` bytes behind `base`, or zeros where nothing `exists`; lane after
// lane from `to` on.
WT_DEVICE void copy_wave(SharedAddress to, const void* base, u32 offset, bool exists, WT_SITE) {
  copy_buffer(buffer_view(base, kOutside), exists ? offset : kOutside, to, site);
}
template <int kPending>
WT_DEVICE void copy_wave_wait(WT_SITE) {
  constexpr int kMost = 63;
  copy_buffer_wait<(kPending * kCopyParts < kMost ? kPending * kCopyParts : kMost)>(site);
}

}  // namespace wt::device
