// SPDX-License-Identifier: Apache-2.0
// target/cuda/async_copy.h - copies from global to shared memory that pass no register (cp.async, sm_80 on).
#pragma once

#include "target/cuda/identity.h"

namespace wt::device {

// kBytes (4, 8 or 16, both addresses aligned to it), of which `valid` come from `from` and the rest is zero.
template <int kBytes>
WT_DEVICE void copy_async(SharedAddress to, const void* from, int valid) {
  static_assert(kBytes == 4 || kBytes == 8 || kBytes == 16);
  if constexpr (kBytes == 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid) : "memory");
  } else {
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from), "n"(kBytes), "r"(valid)
                 : "memory");
  }
}
// The same of 16 bytes where other blocks read the rest of their line of 128 soon: the L2 fetches it whole.
WT_DEVICE void copy_async_line(SharedAddress to, const void* from, int valid) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(valid) : "memory");
}
WT_DEVICE void copy_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int kPending>
WT_DEVICE void copy_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

// This thread's copies so far arrive at `barrier` when they have landed, as one of its counted arrivals (sm_90 on).
WT_DEVICE void copy_async_arrive(SharedAddress barrier) {
  asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// CDNA's, declared for code that asks its target first.
WT_DEVICE void copy_wave(SharedAddress to, const void* base, u32 offset, bool exists);
template <int kPending>
WT_DEVICE void copy_wave_wait();
// AMD's: loads that give zeros outside, and the order of instructions.
template <class T>
WT_DEVICE T load_or_zero(const void* base, u32 offset);
inline constexpr u32 kOutside = 1u << 31;
enum class Slot : int { kMatrix, kGlobalRead, kSharedRead, kSharedWrite };
template <Slot kSlot, int kCount>
WT_DEVICE void schedule();
WT_DEVICE void schedule_end();

}  // namespace wt::device
