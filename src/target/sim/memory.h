// SPDX-License-Identifier: Apache-2.0
// target/sim/memory.h - loads, stores and atomics on global and shared memory, each checked by the library.
#pragma once

#include "target/sim/identity.h"

namespace wt::device {

WT_DEVICE SharedAddress shared_base() { return sim::table->shared_base(); }
template <class T>
WT_DEVICE T keep(T value) {
  return value;
}

// Hardware wants an access of 1, 2, 4, 8 or 16 bytes aligned to its size; larger structs go in pieces of their own
// alignment.
template <class T>
inline constexpr u32 kAccessAlignment = sizeof(T) <= 16 && (sizeof(T) & (sizeof(T) - 1)) == 0
                                            ? static_cast<u32>(sizeof(T))
                                            : static_cast<u32>(alignof(T));

template <class T>
WT_DEVICE T load_shared(SharedAddress address, WT_SITE) {
  T value;
  __builtin_memcpy(&value, sim::table->read_shared(address, sizeof(T), kAccessAlignment<T>, site), sizeof(T));
  return value;
}
// Loads bytes that may never have been written; the kernel drops what it computes from those.
template <class T>
WT_DEVICE T peek_shared(SharedAddress address, WT_SITE) {
  T value;
  __builtin_memcpy(&value, sim::table->peek_shared(address, sizeof(T), kAccessAlignment<T>, site), sizeof(T));
  return value;
}
template <class T>
WT_DEVICE void store_shared(SharedAddress address, T value, WT_SITE) {
  __builtin_memcpy(sim::table->write_shared(address, sizeof(T), kAccessAlignment<T>, site), &value, sizeof(T));
}

template <class T>
WT_DEVICE T load_global(const T* address, WT_SITE) {
  T value;
  __builtin_memcpy(&value, sim::table->read_global(address, sizeof(T), kAccessAlignment<T>, site), sizeof(T));
  return value;
}
template <class T>
WT_DEVICE void store_global(T* address, T value, WT_SITE) {
  __builtin_memcpy(sim::table->write_global(address, sizeof(T), kAccessAlignment<T>, site), &value, sizeof(T));
}

WT_DEVICE float atomic_add(float* address, float value, WT_SITE) {
  return sim::table->atomic_add_float(address, value, site);
}
WT_DEVICE u32 atomic_add(u32* address, u32 value, WT_SITE) { return sim::table->atomic_add(address, value, site); }
WT_DEVICE u32 atomic_max(u32* address, u32 value, WT_SITE) { return sim::table->atomic_max(address, value, site); }

// Everything this thread wrote to global memory before is seen by other blocks before what it writes after.
WT_DEVICE void fence_global(WT_SITE) { sim::table->fence_global(site); }

// A flag that another block sets. The load lets other threads run, so that a loop around it makes progress.
WT_DEVICE u32 load_acquire(const u32* address, WT_SITE) { return sim::table->load_acquire(address, site); }
WT_DEVICE void store_release(u32* address, u32 value, WT_SITE) { sim::table->store_release(address, value, site); }

}  // namespace wt::device
