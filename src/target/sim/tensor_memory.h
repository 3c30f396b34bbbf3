// SPDX-License-Identifier: Apache-2.0
// target/sim/tensor_memory.h - tensor memory. Words: target/cuda/tensor_memory.h.
#pragma once

#include "target/sim/identity.h"
#include "target/tcgen05_words.h"

namespace wt::device {

template <int kBlocks>
WT_DEVICE void tensor_allocate(SharedAddress to, u32 columns, WT_SITE) {
  sim::table->tensor_allocate(kBlocks, to, columns, site);
}
template <int kBlocks>
WT_DEVICE void tensor_free(u32 address, u32 columns, WT_SITE) {
  sim::table->tensor_free(kBlocks, address, columns, site);
}
template <int kBlocks>
WT_DEVICE void tensor_relinquish(WT_SITE) {
  sim::table->tensor_relinquish(kBlocks, site);
}
WT_DEVICE void tensor_fence_before(WT_SITE) { sim::table->tensor_fence_before(site); }
WT_DEVICE void tensor_fence_after(WT_SITE) { sim::table->tensor_fence_after(site); }

template <TensorShape kShape, int kCount>
WT_DEVICE void tensor_load(float (&to)[kCount], u32 address, WT_SITE) {
  static_assert(kCount == 8 || kCount == 16 || kCount == 32);
  sim::table->tensor_registers({static_cast<int>(kShape), kCount, address, to, nullptr}, site);
}
template <TensorShape kShape, int kCount>
WT_DEVICE void tensor_store(u32 address, const float (&from)[kCount], WT_SITE) {
  static_assert(kCount == 8 || kCount == 16 || kCount == 32);
  sim::table->tensor_registers({static_cast<int>(kShape), kCount, address, nullptr, from}, site);
}
WT_DEVICE void tensor_load_wait(WT_SITE) { sim::table->tensor_wait(false, site); }
WT_DEVICE void tensor_store_wait(WT_SITE) { sim::table->tensor_wait(true, site); }
template <int kCount>
WT_DEVICE void tensor_hold(float (&values)[kCount]) {
  asm volatile("" : : "r"(&values[0]) : "memory");
}

}  // namespace wt::device
