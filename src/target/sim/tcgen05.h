// SPDX-License-Identifier: Apache-2.0
// target/sim/tcgen05.h - matrix products into tensor memory. Words: target/cuda/tcgen05.h.
#pragma once

#include "target/sim/tensor_memory.h"

namespace wt::device {

template <TensorKind kKind, int kBlocks>
WT_DEVICE void tensor_multiply(u32 d, u64 a, u64 b, u32 word, bool accumulate, WT_SITE) {
  sim::table->tensor_multiply({static_cast<int>(kKind), kBlocks, d, a, b, word, accumulate}, site);
}
template <ScaledKind kKind, int kBlocks>
WT_DEVICE void tensor_multiply_scaled(u32 d, u64 a, u64 b, u32 word, u32 scales_a, u32 scales_b, bool accumulate,
                                      WT_SITE) {
  sim::table->tensor_multiply({static_cast<int>(TensorKind::kF8f6f4), kBlocks, d, a, b, word, accumulate,
                               static_cast<int>(kKind), scales_a, scales_b},
                              site);
}
template <TensorCopy kCopy, int kBlocks>
WT_DEVICE void tensor_copy(u32 to, u64 from, WT_SITE) {
  sim::table->tensor_copy(static_cast<int>(kCopy), kBlocks, to, from, site);
}
template <int kBlocks>
WT_DEVICE void tensor_commit(SharedAddress barrier, WT_SITE) {
  sim::table->tensor_commit(kBlocks, barrier, 0, site);
}
template <int kBlocks>
WT_DEVICE void tensor_commit_multicast(SharedAddress barrier, u16 mask, WT_SITE) {
  sim::table->tensor_commit(kBlocks, barrier, mask, site);
}

}  // namespace wt::device
