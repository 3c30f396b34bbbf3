// SPDX-License-Identifier: Apache-2.0
// target/amd/memory.h - loads, stores and atomics on global memory and on the LDS.
#pragma once

#include "target/amd/identity.h"

namespace wt::device {

extern __attribute__((shared)) unsigned char dynamic_shared[];

template <class T>
using SharedPointer = __attribute__((address_space(3))) T*;

WT_DEVICE SharedAddress shared_base() {
  return (SharedAddress)(SharedPointer<unsigned char>)(unsigned char*)dynamic_shared;
}

// The same value, in a register of each lane from here on: what is computed of it is computed behind this place.
WT_DEVICE SharedAddress keep(SharedAddress value) {
  asm volatile("" : "+v"(value));
  return value;
}
template <class T>
WT_DEVICE T* keep(T* value) {
  return value;
}

template <class T>
WT_DEVICE T load_shared(SharedAddress address) {
  T value;
  __builtin_memcpy(&value, (const T*)(SharedPointer<T>)address, sizeof(T));
  return value;
}
// Loads bytes that may never have been written; the kernel drops what it computes from those.
template <class T>
WT_DEVICE T peek_shared(SharedAddress address) {
  return load_shared<T>(address);
}
template <class T>
WT_DEVICE void store_shared(SharedAddress address, T value) {
  __builtin_memcpy((T*)(SharedPointer<T>)address, &value, sizeof(T));
}

// WHY the address space: what clang cannot prove to be global memory becomes a flat_ instruction, which counts as an
// access to the LDS too, so that every wait for the LDS waits for global memory.
template <class T>
using GlobalPointer = __attribute__((address_space(1))) T*;

template <class T>
WT_DEVICE T load_global(const T* address) {
  T value;
  __builtin_memcpy(&value, (const T*)(GlobalPointer<const T>)(u64)address, sizeof(T));
  return value;
}
template <class T>
WT_DEVICE void store_global(T* address, T value) {
  __builtin_memcpy((T*)(GlobalPointer<T>)(u64)address, &value, sizeof(T));
}

// WHY the builtin: of an atomic addition of floats clang makes a loop of compare and swap on gfx90a, for fear of memory
// that the host shares. A workspace is the device's own.
WT_DEVICE float atomic_add(float* address, float value) {
  return __builtin_amdgcn_global_atomic_fadd_f32((GlobalPointer<float>)(u64)address, value);
}
WT_DEVICE u32 atomic_add(u32* address, u32 value) {
  return __hip_atomic_fetch_add((GlobalPointer<u32>)(u64)address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
WT_DEVICE u32 atomic_max(u32* address, u32 value) {
  return __hip_atomic_fetch_max((GlobalPointer<u32>)(u64)address, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// Everything this thread wrote to global memory before is seen by other blocks before what it writes after.
WT_DEVICE void fence_global() { __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "agent"); }

WT_DEVICE u32 load_acquire(const u32* address) {
  return __hip_atomic_load((GlobalPointer<const u32>)(u64)address, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT);
}
WT_DEVICE void store_release(u32* address, u32 value) {
  __hip_atomic_store((GlobalPointer<u32>)(u64)address, value, __ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT);
}

}  // namespace wt::device
