// SPDX-License-Identifier: Apache-2.0
// kernels/naive/device/inspect.h - looks at a tensor where it lies: faults of all its elements, values of some.
#pragma once

#include "kernels/naive/device/arguments.h"
#include "target/target.h"

namespace wt::naive {

template <class T>
WT_DEVICE bool is_poison(T value) {
  if constexpr (sizeof(T) == 1) return __builtin_bit_cast(u8, value) == 0xffu;
  if constexpr (sizeof(T) == 2) return __builtin_bit_cast(u16, value) == 0xffffu;
  if constexpr (sizeof(T) == 4) return __builtin_bit_cast(u32, value) == 0xffffffffu;
}

template <DataType kType>
struct Scan {
  static constexpr int kThreads = naive::kThreads;
  static constexpr int kMinBlocks = 1;
  using Params = ScanParams;
  using Element = Storage<kType>;

  WT_DEVICE static void run(const Params& p) {
    const i64 step = static_cast<i64>(device::grid_size().x) * kThreads;
    u32 unwritten = 0, nan = 0;
    float largest = 0;
    for (i64 i = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); i < p.count;
         i += step) {
      const Element element = device::load_global(static_cast<const Element*>(p.data) + i);
      const float value = device::to_float(element);
      const float magnitude = value < 0 ? -value : value;
      if (magnitude > largest) largest = magnitude;
      if (value == value) continue;
      is_poison(element) ? ++unwritten : ++nan;
      const u32 slot = device::atomic_add(&p.result->kept, 1u);
      if (slot < kFaultsKept) device::store_global(&p.result->at[slot], i);
    }
    if (unwritten) device::atomic_add(&p.result->unwritten, unwritten);
    if (nan) device::atomic_add(&p.result->nan, nan);
    if (largest > 0) device::atomic_max(&p.result->largest, __builtin_bit_cast(u32, largest));
  }
};

template <DataType kType>
struct Gather {
  static constexpr int kThreads = naive::kThreads;
  static constexpr int kMinBlocks = 1;
  using Params = GatherParams;
  using Element = Storage<kType>;

  WT_DEVICE static void run(const Params& p) {
    const i64 step = static_cast<i64>(device::grid_size().x) * kThreads;
    for (i64 i = static_cast<i64>(device::block_index().x) * kThreads + device::thread_index(); i < p.count;
         i += step) {
      const i64 index = p.indices ? device::load_global(p.indices + i) : p.first_index + i;
      device::store_global(p.values + i,
                           device::to_float(device::load_global(static_cast<const Element*>(p.data) + index)));
    }
  }
};

}  // namespace wt::naive
