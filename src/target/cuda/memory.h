// SPDX-License-Identifier: Apache-2.0
// target/cuda/memory.h - loads, stores and atomics on global and shared memory.
#pragma once

#include "target/cuda/identity.h"

namespace wt::device {

extern __shared__ __align__(16) unsigned char dynamic_shared[];

WT_DEVICE SharedAddress shared_base() { return static_cast<SharedAddress>(__cvta_generic_to_shared(dynamic_shared)); }

// The same value, in a register from here on. WHY: ptxas would rather compute an address anew for every access, and the
// start of shared memory takes four instructions.
WT_DEVICE SharedAddress keep(SharedAddress value) {
  asm volatile("" : "+r"(value));
  return value;
}
template <class T>
WT_DEVICE T* keep(T* value) {
  asm volatile("" : "+l"(value));
  return value;
}

template <class T>
WT_DEVICE T load_shared(SharedAddress address) {
  return *reinterpret_cast<const T*>(__cvta_shared_to_generic(address));
}
// Loads bytes that may never have been written; the kernel drops what it computes from those.
template <class T>
WT_DEVICE T peek_shared(SharedAddress address) {
  return load_shared<T>(address);
}
template <class T>
WT_DEVICE void store_shared(SharedAddress address, T value) {
  *reinterpret_cast<T*>(__cvta_shared_to_generic(address)) = value;
}

template <class T>
WT_DEVICE T load_global(const T* address) {
  return *address;
}
template <class T>
WT_DEVICE void store_global(T* address, T value) {
  *address = value;
}

WT_DEVICE float atomic_add(float* address, float value) { return atomicAdd(address, value); }
WT_DEVICE u32 atomic_add(u32* address, u32 value) { return atomicAdd(address, value); }
WT_DEVICE u32 atomic_max(u32* address, u32 value) { return atomicMax(address, value); }

// Everything this thread wrote to global memory before is seen by other blocks before what it writes after.
WT_DEVICE void fence_global() { __threadfence(); }

// A flag that another block sets: read past the L1, and ordered before the loads that follow.
WT_DEVICE u32 load_acquire(const u32* address) {
  u32 value;
  asm volatile("ld.acquire.gpu.global.b32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}
WT_DEVICE void store_release(u32* address, u32 value) {
  asm volatile("st.release.gpu.global.b32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
}

}  // namespace wt::device
